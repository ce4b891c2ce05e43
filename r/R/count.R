# A condition, and the answer to it.

count <- function(release, where = NULL, model = NULL, estimator = NULL, confidence = 0.95) {
    stopifnot(inherits(release, "sfumato_release"), is.null(model) || inherits(model, "sfumato_model"),
              is_number(confidence), confidence > 0, confidence < 1)
    check_model(model, release)
    condition <- condition_of(release, where)
    k <- if (length(condition$secret)) condition$secret else 1
    asker <- asker_of(release, k, model, estimator)
    guess <- asker$guess(question_of(asker, condition))
    answer(guess, asker, confidence, notes_of(release, condition))
}

check_model <- function(model, release)
    if (!is.null(model) && !identical(model$release, release$sha256)) refuse("this is the model of another release")

# A one-sided formula as accepted rows of qit and entries of st: conditions on single columns, joined by &.
condition_of <- function(release, where) {
    found <- list(tables = list(), secret = integer(), entries = NULL)
    if (is.null(where)) return(found)
    if (!inherits(where, "formula") || length(where) != 2)
        refuse("a condition is a formula such as ~ age >= 60 & diagnosis == \"Flu\"")
    known <- c(release$quasi, unlist(release$secrets))
    for (part in conjuncts(where[[2]])) {
        named <- intersect(all.vars(part), known)
        if (length(named) != 1)
            refuse("each part of a condition is about one column of the release (", paste(known, collapse = ", "),
                   "), and parts are joined by &: ", paste(deparse(part), collapse = " "))
        if (named %in% release$quasi) {
            met <- met_by(part, named, release$tables$qit[[named]], environment(where))
            before <- found$tables[[named]]
            found$tables[[named]] <- if (is.null(before)) met else before & met
        } else {
            k <- which(vapply(release$secrets, function(one) named %in% one, NA))
            if (length(found$secret) && found$secret != k)
                refuse("two secrets that are protected each by itself: how they go together is not in the release")
            found$secret <- k
            met <- met_by(part, named, secret_values(release, k, named), environment(where))
            found$entries <- if (is.null(found$entries)) met else found$entries & met
        }
    }
    found
}

conjuncts <- function(part) {
    if (is.call(part) && identical(part[[1]], as.name("("))) return(conjuncts(part[[2]]))
    joined <- is.call(part) && (identical(part[[1]], as.name("&")) || identical(part[[1]], as.name("&&")))
    if (joined) c(conjuncts(part[[2]]), conjuncts(part[[3]])) else list(part)
}

met_by <- function(part, name, values, env) {
    met <- eval(part, stats::setNames(list(values), name), env)
    if (!is.logical(met) || length(met) != length(values))
        refuse("not a condition on every value of ", name, ": ", paste(deparse(part), collapse = " "))
    met & !is.na(met)
}

# The values of a column of a secret, entry by entry, as numbers or days where the schema has them as such.
secret_values <- function(release, k, name) {
    st <- release$tables$st
    if (length(release$secrets) == 1) return(st[[name]])
    texts <- st$value[entries_of(release, k)]
    sensitive <- release$manifest$schema$sensitive
    kind <- sensitive[[match(name, names_of(sensitive))]]$kind
    if (identical(kind, "numeric") && all(is.na(texts) | grepl(NUMBER, texts))) return(as.numeric(texts))
    if (identical(kind, "date") && all(is.na(texts) | grepl("^[0-9]{4}-[0-9]{2}-[0-9]{2}$", texts))) return(as.Date(texts))
    texts
}

# What answers questions about one secret.
asker_of <- function(release, k, model, estimator) {
    own <- if (!is.null(model)) model$secrets[[k]]
    secret <- secret_of(release, k, own)
    likely <- !is.null(own) && own$model != "paper"
    if (is.null(estimator)) estimator <- if (likely) "likelihood" else "paper"
    if (!estimator %in% c("paper", "likelihood")) refuse("estimator: expected paper or likelihood")
    if (estimator == "likelihood" && !likely)
        refuse(if (is.null(own)) "the likelihood estimator needs a model: read_model(file, release)" else own$why)
    if (estimator == "likelihood" && own$model == "blind") own$blind <- blind_of(secret, own$blind)
    last <- list()  # the chances of the values asked for last: cells of a cross table share them
    guess <- function(asked) {
        known <- uniform_of(secret, asked$hits, asked$wanted)
        if (estimator == "paper") return(as_paper(secret, known))
        if (known$least == known$most) return(guess_of(known$value, known$placement + known$noise, known))
        if (own$model == "blind") {
            found <- estimate_blind(secret, own$blind, asked, known)
        } else {
            if (!is.null(own$multiplying) && !identical(last$wanted, asked$wanted))
                last <<- list(wanted = asked$wanted,
                              chances = cell_chances(secret, own$multiplying, asked$wanted, nrow(own$cells$line)))
            asked$chances <- last$chances
            found <- estimate_boxes(secret, own, asked, known)
        }
        guess_of(found$value, found$variance, known, found$note, found$loose, found$further)
    }
    list(secret = secret, model = own, estimator = estimator, guess = guess, quasi = release$quasi,
         factor = if (is.null(model)) 4 else model$factor)
}

# A condition as estimators are asked it: rows, people of each group, wanted values, and the single columns.
question_of <- function(asker, condition) {
    secret <- asker$secret
    met <- Reduce(`&`, condition$tables, rep(TRUE, secret$people))
    wanted <- rep(TRUE, secret$values)
    if (!is.null(condition$entries)) {
        wanted[] <- FALSE
        wanted[secret$value[condition$entries]] <- TRUE
    }
    columns <- if (identical(asker$model$model, "blind")) lapply(condition$tables, function(table)
        list(people = sum(table), hits = tabulate(secret$group[table], secret$groups)))
    list(rows = which(met), hits = tabulate(secret$group[met], secret$groups), wanted = wanted, columns = unname(columns),
         conditions = match(names(condition$tables), asker$quasi))
}

# Published bands are asked by what is published of them.
notes_of <- function(release, condition) {
    recoded <- names(release$manifest$schema$declared$recode)
    named <- intersect(names(condition$tables), recoded)
    if (!length(named)) return("")
    paste0("conditions on ", paste(named, collapse = ", "), " are on published values (a band as its lower edge)")
}

inside <- function(guess) if (is.null(guess$settled)) min(max(guess$value, guess$least), guess$most) else guess$settled

# The ends of an interval, inside what is certain; NULL where none would be honest.
interval_of <- function(guess, confidence, factor) {
    if (guess$limits) return(c(guess$least, guess$most))
    certain <- guess$least == guess$most
    if (nzchar(guess$note) && !certain) return(NULL)
    times <- if (certain) 0 else qnorm(0.5 + confidence / 2)
    loose <- min(guess$loose, guess$error^2)
    linear <- times * sqrt(loose)
    up <- guess$value * expm1(min(linear / max(guess$value, 1), factor))
    above <- max(sqrt(max(up, linear)^2 + times^2 * (guess$error^2 - loose)), guess$further * times / qnorm(0.975))
    ends <- c(max(guess$least, guess$value - times * guess$error), min(guess$most, guess$value + above))
    c(min(ends[1], inside(guess)), max(ends[2], inside(guess)))
}

answer <- function(guess, asker, confidence, notes = "") {
    ends <- interval_of(guess, confidence, asker$factor)
    certain <- guess$least == guess$most
    limits <- guess$limits && !certain
    said <- c(if (is.null(ends) || limits) guess$note, notes)
    structure(list(
        value = inside(guess), std_error = if (certain) 0 else guess$error,
        low = if (is.null(ends)) NA_real_ else min(ends[1], inside(guess)),
        high = if (is.null(ends)) NA_real_ else max(ends[2], inside(guess)),
        confidence = if (limits) 1 else confidence, estimator = asker$estimator,
        note = paste(said[nzchar(said)], collapse = "; ")), class = "sfumato_count")
}

print.sfumato_count <- function(x, ...) {
    if (is.na(x$low)) cat(sprintf("%s (no interval)\n", format(round(x$value, 1), big.mark = ","))) else
        cat(sprintf("%s (%s to %s with %g %% confidence)\n", format(round(x$value, 1), big.mark = ","),
                    format(round(x$low, 1), big.mark = ","), format(round(x$high, 1), big.mark = ","), 100 * x$confidence))
    if (nzchar(x$note)) cat(strwrap(x$note, indent = 2, exdent = 2), sep = "\n")
    invisible(x)
}

# Beside no interval a standard error misleads: chance is the least of what is unknown.
as.data.frame.sfumato_count <- function(x, ...)
    data.frame(count = x$value, std_error = if (is.na(x$low) || (x$confidence == 1 && x$low < x$high)) NA_real_ else x$std_error,
               low = x$low, high = x$high)
