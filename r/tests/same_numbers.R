# Counts and cross tables are Python's, to 1e-6, on every release that the checks make.
library(sfumato)
place <- system.file("extdata", package = "sfumato")
if (!nzchar(place)) {
    cat("no releases were made for this check (make r does)\n")
    quit("no", 0)
}
expected <- jsonlite::fromJSON(file.path(place, "expected.json"), simplifyVector = FALSE)
num <- function(x) if (is.null(x)) NA_real_ else as.numeric(x)

# The difference in units of the figure, or of one person.
off <- function(found, wanted) {
    stopifnot(identical(is.na(found), is.na(wanted)))
    max(0, abs(found - wanted) / pmax(1, abs(wanted)), na.rm = TRUE)
}

worst <- 0
for (name in names(expected$releases)) {
    release <- read_release(file.path(place, name))
    model <- read_model(Sys.glob(file.path(place, paste0(name, ".json*"))), release)
    one <- expected$releases[[name]]
    largest <- 0
    for (asked in one$answers) {
        where <- as.formula(asked$formula)
        found <- if (asked$default) count(release, where, model) else count(release, where, estimator = "paper")
        stopifnot(found$estimator == asked$estimator)
        for (figure in c("value", "std_error", "low", "high")) {
            away <- off(found[[figure]], num(asked[[figure]]))
            if (away > 1e-6) cat(name, asked$formula, figure, found[[figure]], num(asked[[figure]]), "\n")
            largest <- max(largest, away)
        }
    }
    for (asked in one$tables) {
        found <- crosstab(release, asked$a, asked$b, model = model)
        stopifnot(length(asked$cells) == length(found$count))
        for (cell in asked$cells) for (figure in c("count", "std_error", "low", "high", "expected", "lift", "lift_low", "lift_high")) {
            away <- off(found[[figure]][cell$row, cell$column], num(cell[[figure]]))
            if (away > 1e-6) cat(name, asked$a, cell$row, cell$column, figure, found[[figure]][cell$row, cell$column], num(cell[[figure]]), "\n")
            largest <- max(largest, away)
        }
    }
    cat(sprintf("%-12s %3d answers, %d tables, largest difference %.1e\n", name, length(one$answers), length(one$tables), largest))
    worst <- max(worst, largest)
}
cat(sprintf("largest difference of all: %.1e\n", worst))
stopifnot(length(expected$releases) >= 10, worst < 1e-6)

# Rubin's rules.
fits <- lapply(expected$pooled$fits, function(one) structure(
    list(coef = setNames(unlist(one$coef), c("a", "b")), vcov = matrix(unlist(one$vcov), 2)), class = "told"))
coef.told <- function(object, ...) object$coef
vcov.told <- function(object, ...) object$vcov
registerS3method("coef", "told", coef.told, asNamespace("stats"))
registerS3method("vcov", "told", vcov.told, asNamespace("stats"))
pooled <- pool_fits(fits, freedom = 40)$table
for (one in expected$pooled$combined) for (figure in names(pooled))
    stopifnot(abs(pooled[one$name, figure] - one[[figure]]) < 1e-9)
