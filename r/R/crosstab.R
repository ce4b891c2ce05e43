# Two columns against each other: counts with intervals, and how many times as many as if unrelated (lift).

ROUNDS <- 50

crosstab <- function(release, a, b, where = NULL, model = NULL, estimator = NULL, confidence = 0.95) {
    stopifnot(inherits(release, "sfumato_release"), is.null(model) || inherits(model, "sfumato_model"), is_text(a), is_text(b))
    check_model(model, release)
    if (a == b) refuse("a cross table needs two different columns")
    condition <- condition_of(release, where)
    named <- setdiff(c(a, b), release$quasi)
    secrets <- vapply(release$secrets, function(one) any(named %in% one), NA)
    unknown <- setdiff(named, unlist(release$secrets))
    if (length(unknown)) refuse("there is no column ", unknown[1])
    if (sum(secrets) > 1) refuse("how two secrets go together is not in the release")
    k <- if (any(secrets)) which(secrets) else if (length(condition$secret)) condition$secret else 1
    if (length(condition$secret) && condition$secret != k) refuse("how two secrets go together is not in the release")
    asker <- asker_of(release, k, model, estimator)
    both <- grouped(release, asker, k, c(a, b), condition, confidence)
    sides <- lapply(c(a, b), function(name) Filter(function(one) one$value > 0,
                                                  grouped(release, asker, k, name, condition, confidence)$answers))
    cross(both, sides, c(a, b), confidence, asker)
}

# The values of a column that may occur, in order, a missing one last.
levels_in <- function(values) {
    found <- sort(unique(values), method = "radix", na.last = NA)
    if (anyNA(values)) c(found, NA) else found
}

same <- function(values, one) if (is.na(one)) is.na(values) else !is.na(values) & values == one

label_of <- function(one) if (is.na(one)) "(missing)" else format_value(one)

format_value <- function(one) if (is.numeric(one)) format(one, digits = 15, scientific = FALSE, trim = TRUE) else as.character(one)

# Each column of a question as its values, with what narrows a condition down to one of them.
cells_of_column <- function(release, k, name, condition) {
    if (name %in% release$quasi) {
        values <- release$tables$qit[[name]]
        met <- Reduce(`&`, condition$tables, rep(TRUE, length(values)))
        lapply(levels_in(values[met]), function(one) list(label = label_of(one), quasi = name, met = same(values, one)))
    } else {
        values <- secret_values(release, k, name)
        met <- if (is.null(condition$entries)) rep(TRUE, length(values)) else condition$entries
        lapply(levels_in(values[met]), function(one) list(label = label_of(one), met = same(values, one)))
    }
}

narrowed <- function(condition, cell) {
    if (is.null(cell$quasi)) {
        condition$entries <- if (is.null(condition$entries)) cell$met else condition$entries & cell$met
    } else {
        before <- condition$tables[[cell$quasi]]
        condition$tables[[cell$quasi]] <- if (is.null(before)) cell$met else before & cell$met
    }
    condition
}

# One answer a cell, moved within what is certain so that they add up to the whole.
grouped <- function(release, asker, k, names, condition, confidence) {
    sides <- lapply(names, function(name) cells_of_column(release, k, name, condition))
    every <- expand.grid(lapply(sides, seq_along))
    # Cells of one set of values follow each other: the chances of these are looked up once.
    secret <- which(!names %in% release$quasi)
    if (length(secret)) every <- every[order(every[[secret[1]]]), , drop = FALSE]
    total <- asker$guess(question_of(asker, condition))
    guesses <- lapply(seq_len(nrow(every)), function(i) {
        own <- condition
        for (j in seq_along(sides)) own <- narrowed(own, sides[[j]][[every[i, j]]])
        asker$guess(question_of(asker, own))
    })
    kept <- vapply(guesses, function(one) one$most > 0, NA)
    settled <- reconcile(guesses[kept], total, !is.null(asker$secret$noise))
    labels <- lapply(which(kept), function(i) vapply(seq_along(sides), function(j) sides[[j]][[every[i, j]]]$label, ""))
    answers <- lapply(settled, answer, asker = asker, confidence = confidence)
    names(answers) <- vapply(labels, paste, "", collapse = "\r")
    if (length(names) == 1) answers <- answers[order(every[kept, 1])]
    list(answers = answers, total = answer(total, asker, confidence))
}

reconcile <- function(guesses, total, noisy) {
    goal <- inside(total)
    values <- vapply(guesses, inside, 0)
    least <- vapply(guesses, `[[`, 0, "least")
    most <- vapply(guesses, `[[`, 0, "most")
    weight <- vapply(guesses, `[[`, 0, "error")^2 + 1e-12
    for (round in seq_len(100)) {
        gap <- goal - sum(values)
        free <- if (gap > 0) values < most else values > least
        if (abs(gap) < 1e-9 * max(1, goal) || !any(free)) break
        values <- pmin(pmax(values + gap * ifelse(free, weight, 0) / sum(weight[free]), least), most)
    }
    Map(function(one, value) {
        one[[if (noisy) "settled" else "value"]] <- value
        one
    }, guesses, values)
}

cross <- function(both, sides, names, confidence, asker) {
    rows <- names(sides[[1]])
    columns <- names(sides[[2]])
    nobody <- structure(list(value = 0, std_error = 0, low = 0, high = 0, confidence = confidence, note = ""))
    at <- function(key) if (is.null(both$answers[[key]])) nobody else both$answers[[key]]
    cells <- lapply(rows, function(row) lapply(columns, function(column) at(paste(row, column, sep = "\r"))))
    figure <- function(name) matrix(vapply(unlist(cells, recursive = FALSE), `[[`, 0, name), length(rows), byrow = TRUE,
                                    dimnames = list(rows, columns))
    margin <- lapply(sides, function(side) vapply(side, `[[`, 0, "value"))
    error <- lapply(sides, function(side) vapply(side, `[[`, 0, "std_error"))
    count <- fitted_to(figure("value"), margin)
    low <- pmin(figure("low"), count)
    high <- pmax(figure("high"), count)
    expected <- outer(margin[[1]], margin[[2]]) / both$total$value
    dimnames(expected) <- dimnames(count)
    unsure <- sqrt(outer((error[[1]] / margin[[1]])^2, (error[[2]] / margin[[2]])^2, `+`))
    lift <- count / expected
    spread <- figure("std_error") / expected
    wider <- ifelse(spread > 0, sqrt(spread^2 + (lift * unsure)^2) / spread, 1)
    ends <- list(low / expected, high / expected)
    moved <- unsure > 0 & !is.na(low)
    ends[[1]][moved] <- pmax(0, lift - (lift - ends[[1]]) * wider)[moved]
    ends[[2]][moved] <- (lift + (ends[[2]] - lift) * wider)[moved]
    error_shown <- figure("std_error")
    error_shown[is.na(low) | (figure("confidence") == 1 & low < high)] <- NA
    note <- unique(vapply(unlist(cells, recursive = FALSE), `[[`, "", "note"))
    structure(list(names = names, count = count, std_error = error_shown, low = low, high = high, expected = expected,
                   lift = lift, lift_low = ends[[1]], lift_high = ends[[2]], confidence = confidence,
                   estimator = asker$estimator, note = note[nzchar(note)]), class = "sfumato_crosstab")
}

# Counts scaled until their sums are the margins, which the release tells better.
fitted_to <- function(values, margin) {
    for (round in seq_len(if (length(values)) ROUNDS else 0)) {
        total <- rowSums(values)
        values <- values * ifelse(total > 0, margin[[1]] / total, 1)
        total <- colSums(values)
        values <- sweep(values, 2, ifelse(total > 0, margin[[2]] / total, 1), `*`)
    }
    values
}

print.sfumato_crosstab <- function(x, ...) {
    shown <- matrix(sprintf("%s \u00d7%.2f%s", format(round(x$count), big.mark = ",", trim = TRUE), x$lift,
                            ifelse(!is.na(x$lift_low) & (x$lift_low > 1 | x$lift_high < 1), "*", " ")),
                    nrow(x$count), dimnames = dimnames(x$count))
    print(shown, quote = FALSE, right = TRUE)
    cat("count \u00d7lift; * where the interval of the lift leaves 1 out\n")
    if (length(x$note)) cat(strwrap(x$note), sep = "\n")
    invisible(x)
}

plot.sfumato_crosstab <- function(x, ..., main = paste(x$names, collapse = " and ")) {
    shade <- log2(pmax(pmin(x$lift, 8), 1 / 8))
    before <- par(mar = c(8, 10, 4, 1))
    on.exit(par(before))
    across <- ncol(shade)
    down <- nrow(shade)
    image(seq_len(across), seq_len(down), t(shade[down:1, , drop = FALSE]), zlim = c(-3, 3), col = hcl.colors(61, "Blue-Red 3"),
          axes = FALSE, xlab = "", ylab = "", main = main, ...)
    axis(1, seq_len(across), colnames(shade), las = 2, tick = FALSE, cex.axis = 0.7)
    axis(2, seq_len(down), rev(rownames(shade)), las = 1, tick = FALSE, cex.axis = 0.7)
    clear <- !is.na(x$lift_low) & (x$lift_low > 1 | x$lift_high < 1)
    at <- which(clear, arr.ind = TRUE)
    if (nrow(at)) text(at[, 2], down + 1 - at[, 1], "*")
    mtext("red: more often together than if unrelated, blue: less; * where the interval says so", 3, 0.2, cex = 0.7)
    invisible(x)
}
