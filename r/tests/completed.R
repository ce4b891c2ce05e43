# Completed tables in mice, survey and mitools: the same coefficients as by hand, by Rubin's rules.
library(sfumato)
place <- system.file("extdata", "completed", package = "sfumato")
if (!nzchar(place)) {
    cat("no releases were made for this check (make r does)\n")
    quit("no", 0)
}
tables <- read_completed(place)
stopifnot(length(tables) == 5, is.factor(tables[[3]]$diagnosis))
model <- I(diagnosis == "Type 2 diabetes") ~ age + sex
fits <- lapply(tables, function(one) glm(model, binomial, one))
pooled <- pool_fits(fits)
print(pooled)
stopifnot(pooled$table["age", "missing"] > 0, all(pooled$table$std_error > sqrt(diag(pooled$within))))

if (requireNamespace("mice", quietly = TRUE)) {
    found <- summary(mice::pool(mice::as.mira(fits)))
    stopifnot(max(abs(found$estimate - pooled$table$estimate)) < 1e-9,
              max(abs(found$std.error - pooled$table$std_error)) < 1e-9,
              max(abs(found$df / pooled$table$freedom - 1)) < 1e-6)
} else cat("mice is not installed\n")

if (requireNamespace("mitools", quietly = TRUE)) {
    found <- mitools::MIcombine(with(as_imputations(tables),
                                     glm(I(diagnosis == "Type 2 diabetes") ~ age + sex, family = binomial)))
    stopifnot(max(abs(coef(found) - pooled$table$estimate)) < 1e-9,
              max(abs(sqrt(diag(vcov(found))) - pooled$table$std_error)) < 1e-9)
} else cat("mitools is not installed\n")

if (requireNamespace("survey", quietly = TRUE) && requireNamespace("mitools", quietly = TRUE)) {
    design <- completed_design(tables)
    found <- mitools::MIcombine(with(design, survey::svyglm(model, family = quasibinomial())))
    stopifnot(max(abs(coef(found) - pooled$table$estimate)) < 1e-6)
} else cat("survey is not installed\n")
