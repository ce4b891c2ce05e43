# Completed tables, which `sfumato complete --format csv` writes, for ordinary tools; results combined by Rubin's rules.

read_completed <- function(path, stringsAsFactors = TRUE) {
    files <- sort(list.files(path, "^completed-[0-9]+\\.(csv|parquet)$", full.names = TRUE), method = "radix")
    if (length(files) < 2) refuse(path, ": no completed tables (`sfumato complete release/ --out completed --format csv`)")
    tables <- lapply(files, function(file) {
        file_bytes(file)
        if (grepl("csv$", file)) utils::read.csv(file, check.names = FALSE, encoding = "UTF-8", na.strings = "")
        else as.data.frame(read_table_parquet(file))
    })
    for (one in tables[-1]) if (!identical(names(one), names(tables[[1]])) || nrow(one) != nrow(tables[[1]]))
        refuse("completed tables of one release have the same columns and people")
    # Every table has the same levels, also where a rare value was not drawn in one of them.
    if (stringsAsFactors) for (name in names(tables[[1]])) if (is.character(tables[[1]][[name]])) {
        levels <- sort(unique(unlist(lapply(tables, `[[`, name))), method = "radix")
        tables <- lapply(tables, function(one) {
            one[[name]] <- factor(one[[name]], levels)
            one
        })
    }
    tables
}

as_imputations <- function(tables) {
    if (!requireNamespace("mitools", quietly = TRUE)) refuse("imputation lists are those of 'mitools', which is not installed")
    mitools::imputationList(tables)
}

completed_design <- function(tables, ...) {
    if (!requireNamespace("survey", quietly = TRUE)) refuse("designs are those of 'survey', which is not installed")
    survey::svydesign(ids = ~1, weights = ~1, data = as_imputations(tables), ...)
}

pool_fits <- function(fits, freedom = NULL, confidence = 0.95) {
    m <- length(fits)
    if (m < 2) refuse("the variance between tables needs at least two results")
    q <- vapply(fits, coef, coef(fits[[1]]))
    q <- matrix(q, ncol = m, dimnames = list(names(coef(fits[[1]])), NULL))
    if (!all(vapply(fits, function(one) identical(names(coef(one)), rownames(q)), NA)))
        refuse("every table has the same model, its terms in the same order")
    within <- Reduce(`+`, lapply(fits, function(one) as.matrix(vcov(one)))) / m
    between <- stats::cov(t(q))
    total <- within + (1 + 1 / m) * between
    if (is.null(freedom)) freedom <- tryCatch(min(vapply(fits, df.residual, 0)), error = function(e) Inf)
    missing <- (1 + 1 / m) * diag(between) / diag(total)
    old <- (m - 1) / pmax(missing, 1e-300)^2
    known <- if (is.finite(freedom)) (freedom + 1) / (freedom + 3) * freedom * (1 - missing) else Inf
    df <- if (is.finite(freedom)) 1 / (1 / old + 1 / known) else old
    estimate <- rowMeans(q)
    error <- sqrt(diag(total))
    reach <- qt(0.5 + confidence / 2, df) * error
    structure(list(table = data.frame(estimate = estimate, std_error = error, low = estimate - reach, high = estimate + reach,
                                      p_value = 2 * pt(-abs(estimate) / error, df), freedom = df, missing = missing,
                                      row.names = rownames(q)),
                   covariance = total, within = within, between = between, tables = m), class = "sfumato_pooled")
}

print.sfumato_pooled <- function(x, ...) {
    print(x$table, digits = 4)
    cat("combined over", x$tables, "completed tables by Rubin's rules; missing: the share of variance that the release leaves open\n")
    invisible(x)
}
