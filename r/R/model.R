# What `sfumato query --export-model` writes, checked against the release that it is of.

read_model <- function(path, release) {
    stopifnot(inherits(release, "sfumato_release"))
    name <- basename(path)
    bytes <- file_bytes(path)
    if (length(bytes) > 2 && identical(as.integer(bytes[1:2]), c(31L, 139L)))
        bytes <- tryCatch(memDecompress(bytes, "gzip"), error = function(e) refuse(name, " is damaged"))
    model <- parse_json(as_text(bytes, name), name)
    if (!is.list(model) || !identical(model$format, "sfumato-model")) refuse(name, " is no model of sfumato")
    if (!isTRUE(model$version == 2)) refuse(name, ": a version that this package does not know")
    if (is.null(release$sha256)) refuse("whose model this is shows the hash of the manifest: read the release with its hashes")
    if (!identical(model$release, release$sha256)) refuse(name, " is the model of another release")
    if (length(model$secrets) != length(release$secrets)) refuse(name, ": other secrets than the release has")
    model$secrets <- lapply(seq_along(model$secrets), function(k) check_secret(model$secrets[[k]], release, k, name))
    if (!is_number(model$factor)) refuse(name, ": a number is missing")
    structure(model, class = "sfumato_model")
}

is_number <- function(x) is.numeric(x) && length(x) == 1 && is.finite(x)

KINDS <- list("<i4" = list("integer", 4L, TRUE), "<u2" = list("integer", 2L, FALSE),
              "<f4" = list("numeric", 4L, TRUE), "<f8" = list("numeric", 8L, TRUE))

# An array of the shape that this release needs, NA standing for any length; whole numbers lie below `below`.
array_of <- function(one, shape, name, below = Inf) {
    bad <- function() refuse(name, ": an array is not what this release needs")
    kind <- if (is.list(one) && is_text(one$type)) KINDS[[one$type]]
    if (is.null(kind) || !is.character(one$data) || length(one$data) != 1) bad()
    sizes <- vapply(one$shape, function(n) if (is_whole(n)) as.numeric(n) else NA_real_, 0)
    if (length(sizes) != length(shape) || anyNA(sizes) || any(sizes != shape, na.rm = TRUE)) bad()
    bytes <- tryCatch(base64_dec(one$data), error = function(e) bad())
    if (length(bytes) != prod(sizes) * kind[[2]]) bad()
    found <- readBin(bytes, kind[[1]], prod(sizes), size = kind[[2]], signed = kind[[3]], endian = "little")
    if (anyNA(found) || (kind[[1]] == "integer" && any(found < 0 | found >= below))) bad()
    if (kind[[1]] == "numeric" && any(!is.finite(found))) bad()
    if (length(sizes) == 2) matrix(found, sizes[1], sizes[2], byrow = TRUE) else found
}

check_secret <- function(one, release, k, name) {
    rows <- entries_of(release, k)
    values <- one$values
    if (!identical(as.character(unlist(one$columns)), release$secrets[[k]]) || !is_whole(values, 1))
        refuse(name, ": other secrets than the release has")
    found <- list(values = values, few = isTRUE(one$few), fewest = one$fewest, model = one$model, why = one$why)
    found$value <- array_of(one$value, length(rows), name, values) + 1L
    groups <- max(release$tables$qit$group)
    found$noise <- if (release$noisy) array_of(one$noise, groups, name)
    if (identical(one$model, "boxes")) return(c(found, check_boxes(one, release, values, release$tables$st$group[rows], name)))
    if (identical(one$model, "blind")) return(c(found, list(blind = check_blind(one$blind, values, name))))
    if (!identical(one$model, "paper")) refuse(name, ": a model that this package does not know")
    found
}

numbers_in <- function(one, wanted, name) {
    for (key in wanted) if (!is_number(one[[key]])) refuse(name, ": a number is missing")
    one[wanted]
}

# `entries` are the groups of the entries of st.
check_boxes <- function(one, release, values, entries, name) {
    columns <- length(release$quasi)
    lines <- as.numeric(unlist(one$cells$levels))
    if (length(lines) != columns || anyNA(lines) || any(lines < 1)) refuse(name, ": levels without columns")
    first <- cumsum(c(0, lines))[seq_len(columns)]
    line <- array_of(one$cells$line, c(NA, columns), name, sum(lines))
    if (any(t(line) < first | t(line) >= first + lines)) refuse(name, ": a level of another column")
    cell <- array_of(one$cells$cell, nrow(release$tables$qit), name, nrow(line)) + 1L
    group <- release$tables$qit$group
    box <- integer(nrow(line))
    box[cell] <- group
    if (any(box == 0) || any(box[cell] != group) || is.unsorted(box)) refuse(name, ": cells are not those of the groups")
    cells <- list(cell = cell, line = line + 1L, level = sweep(line, 2, first), box = box,
                  weight = tabulate(cell, nrow(line)), lines = sum(lines), levels = lines,
                  sharing = lapply(seq_len(columns), function(j)
                      sharing_of(release$tables$qit[[release$quasi[j]]], line[cell, j])))
    list(covers = isTRUE(one$covers), near = one$near, weight = numbers_in(one, "multiplying_weight", name)[[1]],
         cells = cells, adding = check_adding(one$adding, cells, values, name),
         multiplying = if (!is.null(one$multiplying)) check_multiplying(one$multiplying, cells, values, entries, name))
}

# The code of each row, the level of each code and the codes of each level; NULL where no two codes share a level.
sharing_of <- function(shown, level) {
    code <- match(shown, unique(shown))
    level <- level[!duplicated(code)]
    level <- match(level, unique(level))
    many <- tabulate(level)
    if (any(many > 1)) list(code = code, level = level, many = many)
}

check_adding <- function(one, cells, values, name) {
    found <- numbers_in(one, c("noise", "share2", "cluster", "drift"), name)
    found$blocks <- lapply(one$blocks, function(block) {
        numbers_in(block, c("left", "right", "width"), name)
        left <- block$left + 1
        right <- block$right + 1
        ok <- left %in% seq_along(cells$levels) && right %in% c(0, seq_along(cells$levels))
        if (!ok) refuse(name, ": features of no column")
        line <- cells$level[, left]
        if (right > 0) line <- line * block$width + cells$level[, right]
        features <- array_of(block$features, c(NA, NA), name)
        if (any(line < 0) || any(line >= nrow(features))) refuse(name, ": levels without features")
        list(line = as.integer(line) + 1L, features = features)
    })
    many <- sum(vapply(found$blocks, function(block) ncol(block$features), 0))
    found$scale <- array_of(one$scale, many, name)
    found$turn <- array_of(one$turn, c(many, NA), name)
    turned <- ncol(found$turn)
    found$grid <- array_of(one$grid, NA, name)
    found$score <- array_of(one$score, c(values, turned), name)
    found$gain <- array_of(one$gain, c(length(found$grid), turned), name)
    found$evidence <- array_of(one$evidence, length(found$grid), name)
    found
}

check_multiplying <- function(one, cells, values, entries, name) {
    found <- numbers_in(one, c("wider", "few_values", "untold"), name)
    found$error2 <- as.numeric(unlist(one$error2))
    if (length(found$error2) != 2 || anyNA(found$error2)) refuse(name, ": a number is missing")
    found$directions <- array_of(one$directions, c(cells$lines, NA), name)
    wide <- ncol(found$directions)
    found$unit <- array_of(one$unit, length(entries), name)
    found$tau2 <- array_of(one$tau2, c(wide, values), name)
    found$chi2 <- array_of(one$chi2, values, name)
    found$own <- array_of(one$own, c(length(cells$levels), values), name)
    found$information <- array_of(one$information, c(NA, wide * (wide + 1) / 2), name)
    found$which <- array_of(one$which, values, name, nrow(found$information)) + 1L
    found$part <- array_of(one$part, values, name)
    found$expected <- array_of(one$expected, c(max(cells$box), values), name)
    found$reach <- numbers_in(one$reach, c("few", "drop", "step", "steps"), name)
    for (key in if (!is.null(one$goal)) c("goal", "goal_variance", "shrinkage")) found[[key]] <- array_of(one[[key]], length(entries), name)
    # One chance for every entry of st and every cell of its group, in this order.
    found$many <- tabulate(cells$box, max(cells$box))[entries]
    found$chance <- array_of(one$chance, sum(found$many), name)
    found$place <- cumsum(c(1, found$many))[seq_along(entries)]
    found$start <- match(seq_len(max(cells$box)), cells$box)[entries]
    found
}

check_blind <- function(one, values, name) {
    found <- numbers_in(one, c("correlation", "rare"), name)
    found$grid <- array_of(one$grid, NA, name)
    found$quantiles <- array_of(one$quantiles, NA, name)
    found$mu <- array_of(one$mu, NA, name)
    found$f <- array_of(one$f, c(values, length(found$mu)), name)
    found$to_t <- array_of(one$to_t, c(length(found$mu), values), name)
    found
}

print.sfumato_model <- function(x, ...) {
    for (one in x$secrets) cat(sprintf("A model of %s values: %s\n", one$values, switch(one$model,
        boxes = "what the differences between boxes teach about their inside",
        blind = "what groups that people were dealt to teach about links",
        paper = "none, the papers' estimator answers")))
    invisible(x)
}
