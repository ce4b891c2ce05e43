# A release: its manifest, compared with what lies beside it, and its tables.

FORMAT_VERSION <- 3
PART_ROWS <- 4194304

read_release <- function(path, hashes = TRUE) {
    if (!dir.exists(path)) refuse(path, ": there is no such directory")
    place <- file.path(path, "manifest.json")
    manifest <- parse_json(as_text(file_bytes(place, 2^28), "manifest.json"), "manifest.json")
    check_manifest(manifest)
    kind <- kind_of(manifest$tables)
    listed <- c("manifest.json", paste0(names(manifest$tables), ".", kind))
    extra <- setdiff(list.files(path, all.files = TRUE, no.. = TRUE), listed)
    if (length(extra)) refuse(length(extra), " files lie in the release that its manifest does not list")
    tables <- lapply(names(manifest$tables), function(name) read_part(path, name, manifest$tables[[name]], kind, hashes))
    names(tables) <- names(manifest$tables)
    release <- list(
        path = path, manifest = manifest, sha256 = if (hashes) sha256_file(place), tables = tables,
        quasi = names_of(manifest$schema$quasi), secrets = secrets_of(manifest),
        noisy = identical(manifest$basis, "noisy"))
    check_tables(release)
    structure(release, class = "sfumato_release")
}

names_of <- function(columns) vapply(columns, `[[`, "", "name")

# Each secret by the columns that it is made of: several, where each is protected by itself.
secrets_of <- function(manifest) {
    columns <- names_of(manifest$schema$sensitive)
    if (identical(manifest$schema$declared$protect, "each")) as.list(columns) else list(columns)
}

is_whole <- function(x, least = 0) is.numeric(x) && length(x) == 1 && is.finite(x) && x == round(x) && x >= least

is_text <- function(x) is.character(x) && length(x) == 1 && !is.na(x) && nzchar(x)

check_manifest <- function(manifest) {
    bad <- function(...) refuse("manifest.json: ", ...)
    if (!is.list(manifest) || !identical(manifest$format, "sfumato-release")) bad("this is not a release of sfumato")
    if (!isTRUE(manifest$version == FORMAT_VERSION)) bad("a version that this package does not know")
    if (!identical(manifest$form, "buckets"))
        bad("a release of the form '", format(manifest$form)[1], "' is not answered here, only buckets, which show people's own ",
            "quasi values beside groups: use `sfumato query`, or `sfumato page` for its tables")
    if (!is.null(manifest$schema$declared$secrets))
        bad("people of this release may have several values of a secret, which is not answered here: use `sfumato query`")
    if (!is_whole(manifest$rows, 1)) bad("the number of people cannot be read")
    for (role in c("quasi", "sensitive")) {
        columns <- manifest$schema[[role]]
        if (!is.list(columns) || !length(columns)) bad("no ", role, " columns")
        if (!all(vapply(columns, function(one) is.list(one) && is_text(one$name), NA))) bad("a column without a name")
    }
    every <- c(names_of(manifest$schema$quasi), names_of(manifest$schema$sensitive))
    if (anyDuplicated(every)) bad("a column is listed twice")
    if (!is.list(manifest$tables) || is.null(names(manifest$tables))) bad("no tables")
    if (!all(c("qit", "st") %in% names(manifest$tables)) ||
        !all(names(manifest$tables) %in% c("qit", "st", "groups", "noise", "margins"))) bad("other tables than this form has")
    if ("margins" %in% names(manifest$tables))
        bad("noisy tables of columns stand beside the groups, which is not answered here: use `sfumato query`")
}

# csv or parquet: files are named after their tables, so that no path leads elsewhere.
kind_of <- function(tables) {
    files <- lapply(tables, function(one) {
        ok <- is.list(one) && is_whole(one$rows) && is.list(one$files) && is.list(one$columns)
        if (!ok) refuse("manifest.json: a table is not described as it should be")
        if (one$rows > PART_ROWS) refuse("tables of more than ", PART_ROWS, " rows are not read here: use `sfumato query`")
        if (length(one$files) != 1 || !is_text(one$files[[1]]$file)) refuse("manifest.json: a table has one file")
        if (!identical(as.numeric(one$files[[1]]$rows), as.numeric(one$rows)))
            refuse("manifest.json: a table with two numbers of rows")
        named <- vapply(one$columns, function(column) is.list(column) && is_text(column$name) && is_text(column$type), NA)
        if (!all(named)) refuse("manifest.json: a column is not described as it should be")
        one$files[[1]]$file
    })
    for (kind in c("csv", "parquet")) if (identical(unname(unlist(files)), paste0(names(tables), ".", kind))) return(kind)
    refuse("manifest.json: the files are not named after their tables, all .csv or all .parquet")
}

read_part <- function(path, name, facts, kind, hashes) {
    file <- paste0(name, ".", kind)
    place <- file.path(path, file)
    file_bytes(place)
    if (hashes && !identical(sha256_file(place), facts$files[[1]]$sha256))
        refuse(file, ": its content does not have the sha-256 that the manifest gives")
    if (kind == "csv") return(read_table_csv(place, facts$columns, facts$rows))
    found <- read_table_parquet(place)
    if (!identical(names(found), names_of(facts$columns))) refuse(file, ": it has other columns than the manifest lists")
    if (nrow(found) != facts$rows) refuse(file, ": it does not have the number of rows that the manifest gives")
    found
}

read_table_parquet <- function(place) {
    if (requireNamespace("nanoparquet", quietly = TRUE)) return(as.data.frame(nanoparquet::read_parquet(place)))
    if (requireNamespace("arrow", quietly = TRUE)) return(as.data.frame(arrow::read_parquet(place)))
    refuse("a release in Parquet is read by 'nanoparquet' or 'arrow', and neither is installed; ",
           "`sfumato publish --format csv` writes releases that need neither")
}

check_tables <- function(release) {
    qit <- release$tables$qit
    st <- release$tables$st
    several <- length(release$secrets) > 1
    if (!identical(names(qit), c(release$quasi, "group"))) refuse("qit: other columns than the schema says")
    own <- if (several) c("secret", "value") else release$secrets[[1]]
    if (!identical(names(st), c("group", own, "count"))) refuse("st: other columns than the schema says")
    if (nrow(qit) != release$manifest$rows) refuse("qit: it has other people than the manifest says")
    groups <- suppressWarnings(max(qit$group))
    whole <- function(x, least) is.numeric(x) && !anyNA(x) && all(x == round(x)) && all(x >= least)
    if (!whole(qit$group, 1) || !whole(st$group, 1) || is.unsorted(qit$group) || is.unsorted(st$group) ||
        !identical(sort(unique(as.numeric(qit$group))), as.numeric(seq_len(groups))) || max(st$group) > groups)
        refuse("groups are not numbered 1, 2, ... in order")
    if (!whole(st$count, if (release$noisy) -2^53 else 1)) refuse("st: a count that cannot be")
    if (several && !identical(sort(unique(st$secret)), sort(unlist(release$secrets)))) refuse("st: other secrets than the schema says")
    sizes <- tabulate(qit$group, groups)
    for (k in seq_along(release$secrets)) {
        rows <- entries_of(release, k)
        shown <- sum_by(st$count[rows], st$group[rows], groups)
        decoys <- release$manifest$parameters$decoys
        more <- if (is.null(decoys)) 0 else decoys
        if (!release$noisy && any(shown != sizes + more)) refuse("st: counts do not add up to the people of their groups")
    }
    if (release$noisy && !is.null(release$tables$noise)) {
        draws <- release$tables$noise
        if (!identical(names(draws), c("group", "draws")) || !identical(as.numeric(draws$group), as.numeric(seq_len(groups))) ||
            !whole(draws$draws, 1)) refuse("noise: it does not say how many draws are in each group")
    }
}

# The rows of st that are about the k-th secret.
entries_of <- function(release, k) {
    st <- release$tables$st
    if (length(release$secrets) == 1) seq_len(nrow(st)) else which(st$secret == release$secrets[[k]])
}

sum_by <- function(x, by, many) {
    found <- numeric(many)
    sums <- rowsum(as.numeric(x), by, reorder = FALSE)
    found[as.integer(rownames(sums))] <- sums
    found
}

print.sfumato_release <- function(x, ...) {
    cat(sprintf("A release of %s people in %s groups\n", format(nrow(x$tables$qit), big.mark = ","),
                format(max(x$tables$qit$group), big.mark = ",")))
    cat("  quasi columns: ", paste(x$quasi, collapse = ", "), "\n  secrets: ",
        paste(vapply(x$secrets, paste, "", collapse = " with "), collapse = ", "), "\n", sep = "")
    cat(if (is.null(x$sha256)) "  hashes were not compared\n" else "  every file has the hash that the manifest gives\n")
    for (claim in x$manifest$claims) cat(strwrap(claim$statement, indent = 2, exdent = 2), sep = "\n")
    invisible(x)
}
