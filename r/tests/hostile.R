# What is not a release as its manifest says is refused with a sentence, before anything of it is used.
library(sfumato)
place <- system.file("extdata", package = "sfumato")
if (!nzchar(place)) {
    cat("no releases were made for this check (make r does)\n")
    quit("no", 0)
}
expected <- jsonlite::fromJSON(file.path(place, "expected.json"), simplifyVector = FALSE)

refused <- function(expr, words) {
    said <- tryCatch({
        force(expr)
        "nothing was refused"
    }, sfumato_refused = conditionMessage, error = function(e) paste("another error:", conditionMessage(e)))
    if (!grepl(words, said, fixed = TRUE)) stop("expected '", words, "', got '", said, "'")
}

copy <- function() {
    to <- tempfile("release")
    dir.create(to)
    file.copy(list.files(file.path(place, "boxes"), full.names = TRUE), to)
    to
}

# The release with one text of its manifest replaced.
edited <- function(from, to) {
    where <- copy()
    file <- file.path(where, "manifest.json")
    text <- paste(readLines(file, warn = FALSE), collapse = "\n")
    stopifnot(grepl(from, text, fixed = TRUE))
    writeLines(sub(from, to, text, fixed = TRUE), file)
    where
}

# The release with one of its tables changed, and the hash in the manifest with it.
rewritten <- function(table, change) {
    where <- copy()
    file <- file.path(where, paste0(table, ".csv"))
    before <- sfumato:::sha256_file(file)
    lines <- change(readLines(file, encoding = "UTF-8"))
    stream <- base::file(file, "wb")
    writeLines(lines, stream, useBytes = TRUE)
    close(stream)
    manifest <- file.path(where, "manifest.json")
    text <- readLines(manifest, warn = FALSE)
    writeLines(sub(before, sfumato:::sha256_file(file), text, fixed = TRUE), manifest)
    where
}

invisible(read_release(copy()))
refused(read_release(tempfile()), "no such directory")
refused(read_release(edited("\"sfumato-release\"", "\"else\"")), "not a release")
refused(read_release(edited("\"version\": 3", "\"version\": 2")), "a version")
refused(read_release(edited("\"qit.csv\"", "\"../qit.csv\"")), "not named after their tables")
refused(read_release(edited("\"qit.csv\"", "\"/etc/passwd\"")), "not named after their tables")
refused(read_release(edited("\"qit\": {", "\"../../x\": {")), "other tables")
refused(read_release(edited("\"form\": \"buckets\",\n  \"format\"", "\"form\": \"buckets\",\n  \"form\": \"buckets\",\n  \"format\"")), "a key twice")
refused(read_release(edited("{", "{{")), "not JSON")
refused(read_release(edited("\"rows\": 3000", "\"rows\": -1")), "manifest.json")

where <- copy()
writeLines("x", file.path(where, "more.txt"))
refused(read_release(where), "does not list")
where <- copy()
cat("\n", file = file.path(where, "st.csv"), append = TRUE)
refused(read_release(where), "sha-256")
where <- copy()
unlink(file.path(where, "st.csv"))
refused(read_release(where), "st.csv")
if (.Platform$OS.type == "unix") {
    file.symlink(file.path(place, "boxes", "st.csv"), file.path(where, "st.csv"))
    refused(read_release(where), "a link")
    unlink(file.path(where, "st.csv"))
    if (nzchar(Sys.which("mkfifo"))) {
        system2("mkfifo", file.path(where, "st.csv"))
        refused(read_release(where), "st.csv")
    }
}

refused(read_release(rewritten("qit", function(x) sub("\"sex\"", "\"SEX\"", x))), "other columns")
refused(read_release(rewritten("qit", function(x) x[-2])), "number of rows")
refused(read_release(rewritten("qit", function(x) replace(x, 2, paste0(x[2], ",1")))), "not written as CSV")
refused(read_release(rewritten("qit", function(x) replace(x, 2, sub("^[0-9]+", "=cmd()", x[2])))), "not a number")
refused(read_release(rewritten("qit", function(x) replace(x, 2, sub("1$", "7", x[2])))), "groups are not numbered")
refused(read_release(rewritten("st", function(x) replace(x, 2, sub("[0-9]+$", "100000", x[2])))), "do not add up")
refused(read_release(rewritten("st", function(x) replace(x, 2, sub("[0-9]+$", "-1", x[2])))), "a count that cannot be")
refused(read_release(rewritten("st", function(x) replace(x, 2, paste0("\"", x[2])))), "quote")

for (name in expected$refused) refused(read_release(file.path(place, name)), "is not answered here")
stopifnot(length(expected$refused) >= 2)

# Models: of this release, and of no other.
release <- read_release(file.path(place, "boxes"))
file <- file.path(place, "boxes.json")
model <- read_model(file, release)
refused(read_model(file.path(place, "near.json.gz"), release), "another release")
refused(count(read_release(file.path(place, "near")), model = model), "another release")
refused(read_model(file, read_release(file.path(place, "boxes"), hashes = FALSE)), "hash of the manifest")
text <- readLines(file, warn = FALSE)
changed <- function(from, to, all = FALSE) {
    to_file <- tempfile(fileext = ".json")
    writeLines(sub(from, to, text, fixed = TRUE), to_file)
    to_file
}
refused(read_model(changed("\"sfumato-model\"", "\"pickle\""), release), "no model")
refused(read_model(changed("\"<i4\"", "\"<O8\""), release), "not what this release needs")
at <- grep("\"data\"", text)
for (line in head(at, 12)) {
    broken <- text
    broken[line] <- sub("\"data\": \"[A-Za-z0-9+/]{8}", "\"data\": \"////////", broken[line])
    if (identical(broken, text)) next
    to_file <- tempfile(fileext = ".json")
    writeLines(broken, to_file)
    # A file of other numbers may still be a model; it must never be more than a refusal or an answer.
    said <- tryCatch(count(release, ~ sex == "female" & diagnosis == "Flu", read_model(to_file, release)),
                     sfumato_refused = function(e) "refused")
    stopifnot(identical(said, "refused") || inherits(said, "sfumato_count"))
}
zipped <- tempfile(fileext = ".json.gz")
stream <- gzfile(zipped, "wb")
writeBin(readBin(file, "raw", file.size(file)), stream)
close(stream)
stopifnot(identical(read_model(zipped, release), model))

# Conditions that mean nothing.
refused(count(release, "sex = 'female'"), "a formula")
refused(count(release, ~ nobody == 1), "one column")
refused(count(release, ~ sex == "female" | age > 3), "one column")
refused(count(release, ~ age), "not a condition")
refused(count(release, ~ sex == "female", estimator = "likelihood"), "needs a model")
refused(count(release, ~ sex == "female", model, estimator = "best"), "estimator")
refused(crosstab(release, "sex", "sex"), "different")
refused(crosstab(release, "sex", "x"), "no column")
each <- read_release(file.path(place, "each"))
refused(count(each, ~ diagnosis == "Flu" & ward == "Surgery"), "not in the release")
