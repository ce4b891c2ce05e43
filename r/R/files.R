# Files of others: regular ones only, in one place, with the hash that the manifest gives.

LARGEST <- 2^31 - 1

refuse <- function(...) stop(structure(
    class = c("sfumato_refused", "error", "condition"),
    list(message = paste0(...), call = NULL)))

# The bytes of a regular file; a link, a directory or a device is refused before it is read.
file_bytes <- function(path, largest = LARGEST) {
    name <- basename(path)
    facts <- file.info(path, extra_cols = FALSE)
    if (is.na(facts$size) || facts$isdir) refuse(name, " is not a file of this release, or cannot be read")
    link <- Sys.readlink(path)
    if (!is.na(link) && nzchar(link)) refuse(name, " is a link, and not a file of this release")
    # A pipe or a device has no content of a known size; reading one could wait for ever.
    if (facts$size == 0) refuse(name, " is empty, or is not a regular file")
    if (facts$size > largest) refuse(name, " is larger than such a file may be")
    found <- readBin(path, "raw", facts$size)
    if (length(found) != facts$size) refuse(name, " changed while it was read")
    found
}

as_text <- function(bytes, name) {
    if (any(bytes == as.raw(0))) refuse(name, " is not text")
    text <- rawToChar(bytes)
    Encoding(text) <- "UTF-8"
    if (!validUTF8(text)) refuse(name, " is not UTF-8 text")
    text
}

# SHA-256 of a file: by R itself from 4.5 on, by a package, or by a program that systems come with.
sha256_file <- function(path) {
    own <- get0("sha256sum", envir = asNamespace("tools"), inherits = FALSE)
    if (!is.null(own)) return(unname(own(path)))
    if (requireNamespace("digest", quietly = TRUE)) return(digest::digest(path, "sha256", file = TRUE))
    if (requireNamespace("openssl", quietly = TRUE)) {
        stream <- file(path, "rb")
        on.exit(close(stream))
        return(paste(as.character(openssl::sha256(stream)), collapse = ""))
    }
    programs <- list(sha256sum = character(), shasum = c("-a", "256"))
    for (program in names(programs)) {
        if (!nzchar(Sys.which(program))) next
        said <- system2(program, programs[[program]], stdin = path, stdout = TRUE, stderr = FALSE)
        if (length(said) && grepl("^[0-9a-f]{64}", said[1])) return(substr(said[1], 1, 64))
    }
    refuse("nothing here computes SHA-256: install 'digest' or 'openssl', or use R 4.5, ",
           "or read without comparing hashes: read_release(path, hashes = FALSE)")
}

# JSON as nested lists; a key that stands twice could say one thing to one reader and another to the next.
parse_json <- function(text, name) {
    found <- tryCatch(fromJSON(text, simplifyVector = FALSE), error = function(e) refuse(name, " is not JSON"))
    once <- function(node) {
        if (!is.list(node)) return()
        if (anyDuplicated(names(node))) refuse(name, " has a key twice")
        lapply(node, once)
    }
    once(found)
    found
}
