# The tables of a release as CSV: texts quoted and nothing else, a missing value empty, one spelling (docs/formats.md).

NUMBER <- "^-?[0-9]+(\\.[0-9]+)?([eE][-+]?[0-9]+)?$"

read_table_csv <- function(path, columns, rows) {
    name <- basename(path)
    lines <- strsplit(as_text(file_bytes(path), name), "\n", fixed = TRUE, useBytes = TRUE)[[1]]
    # A line break inside a text: quotes up to there are odd in number.
    quotes <- nchar(gsub("[^\"]", "", lines, useBytes = TRUE), "bytes")
    open <- cumsum(quotes) %% 2
    record <- cumsum(c(1, as.integer(open[-length(open)] == 0)))
    if (open[length(open)] != 0) refuse(name, ": a quote is not closed")
    if (anyDuplicated(record)) lines <- vapply(split(lines, record), paste, "", collapse = "\n", USE.NAMES = FALSE)
    if (length(lines) != rows + 1) refuse(name, ": it does not have the number of rows that the manifest gives")
    fields <- split_fields(lines, length(columns), name)
    heads <- vapply(fields, `[`, "", 1L)
    wanted <- vapply(columns, `[[`, "", "name")
    if (!identical(unquoted(heads), enc2utf8(wanted))) refuse(name, ": it has other columns than the manifest lists")
    found <- Map(function(one, column) typed(one[-1], column$type, paste0(name, ": ", column$name)), fields, columns)
    names(found) <- wanted
    structure(found, class = "data.frame", row.names = .set_row_names(rows))
}

split_fields <- function(lines, columns, name) {
    lines <- paste0(lines, ",")
    at <- gregexpr("(\"(?:[^\"]|\"\")*\"|[^\",]*),", lines, perl = TRUE, useBytes = TRUE)
    whole <- vapply(at, function(one) sum(attr(one, "match.length")), 0)
    if (any(lengths(at) != columns) || any(whole != nchar(lines, "bytes"))) refuse(name, ": a row is not written as CSV")
    parts <- unlist(regmatches(lines, at), use.names = FALSE)
    parts <- substr(parts, 1, nchar(parts, "bytes") - 1)
    Encoding(parts) <- "UTF-8"
    lapply(seq_len(columns), function(j) parts[seq.int(j, length(parts), columns)])
}

unquoted <- function(texts) gsub("\"\"", "\"", substr(texts, 2, nchar(texts) - 1), fixed = TRUE)

typed <- function(texts, type, where) {
    missing <- texts == ""
    given <- texts[!missing]
    if (identical(type, "string")) {
        if (any(substr(given, 1, 1) != "\"")) refuse(where, ": a text without quotes")
        return(put(unquoted(given), missing, NA_character_))
    }
    if (identical(type, "date32[day]")) {
        if (!all(grepl("^[0-9]{4}-[0-9]{2}-[0-9]{2}$", given))) refuse(where, ": not a date")
        return(put(as.Date(given, "%Y-%m-%d"), missing, as.Date(NA)))
    }
    if (identical(type, "timestamp[us]")) {
        if (!all(grepl("^[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9:.]+$", given))) refuse(where, ": not a moment")
        return(put(as.POSIXct(given, tz = "UTC", format = "%Y-%m-%d %H:%M:%OS"), missing, as.POSIXct(NA, tz = "UTC")))
    }
    if (!type %in% c("int32", "int64", "double")) refuse(where, ": a column of the type ", type, " is not read here")
    if (!all(grepl(if (type == "double") NUMBER else "^-?[0-9]+$", given))) refuse(where, ": not a number")
    found <- as.numeric(given)
    if (type == "int64" && any(abs(found) > 2^53)) refuse(where, ": a number too large for R")
    put(if (type == "int32") as.integer(found) else found, missing, NA)
}

put <- function(values, missing, none) {
    if (anyNA(values)) refuse("a value cannot be read")
    found <- rep(none, length(missing))
    found[!missing] <- values
    found
}
