# The papers' estimator: every placement of a group's values on its people is as likely as any other.

BIASED <- "no interval: this estimator leans toward independence by more than its standard error"
FEWEST <- 10

# The people and the entries of one secret, as estimators need them.
secret_of <- function(release, k, model = NULL) {
    qit <- release$tables$qit
    rows <- entries_of(release, k)
    st <- release$tables$st[rows, , drop = FALSE]
    groups <- max(qit$group)
    sizes <- tabulate(qit$group, groups)
    value <- if (is.null(model)) value_codes(st, release$secrets[[k]], length(release$secrets) > 1) else model$value
    values <- if (is.null(model)) max(value) else model$values
    count <- as.numeric(st$count)
    noise <- NULL
    if (release$noisy) {
        draws <- if (is.null(release$tables$noise)) rep(1, groups) else release$tables$noise$draws
        noise <- noise_variance(release$manifest) * draws
        count <- count + ((sizes - sum_by(count, st$group, groups)) / values)[st$group]
    }
    shown <- if (release$noisy) as.numeric(sizes) else sum_by(count, st$group, groups)
    real <- count * (sizes / pmax(shown, 1))[st$group]
    list(release = release, k = k, people = nrow(qit), groups = groups, group = qit$group, sizes = sizes, shown = shown,
         st_group = st$group, value = value, count = count, values = values, noise = noise,
         totals = sum_by(real, value, values), real = real, blind = identical(release$manifest$basis, "blind"))
}

value_codes <- function(st, columns, several) {
    named <- if (several) "value" else columns
    key <- do.call(paste, c(lapply(st[named], function(one) ifelse(is.na(one), "-", paste0("+", one))), sep = "\r"))
    match(key, unique(key))
}

noise_variance <- function(manifest) {
    text <- as.character(manifest$parameters$ratio)
    parts <- suppressWarnings(as.numeric(strsplit(text, "/", fixed = TRUE)[[1]]))
    ratio <- if (length(parts) == 2) parts[1] / parts[2] else parts[1]
    if (!length(parts) || is.na(ratio) || ratio <= 0 || ratio >= 1) refuse("manifest.json: the ratio of the noise cannot be read")
    2 * ratio / (1 - ratio)^2
}

uniform_of <- function(secret, hits, wanted) {
    s <- sum_by(secret$count * wanted[secret$value], secret$st_group, secret$groups)
    if (!is.null(secret$noise)) return(uniform_noisy(secret, hits, wanted, s))
    n <- secret$shown
    k <- hits
    some <- k > 0 & s > 0
    mean <- k * s / n
    spread <- ifelse(n > 1, mean * (n - k) / n * (n - s) / pmax(n - 1, 1), 0)
    list(value = sum(mean[some]), placement = sum(spread[some]), noise = 0,
         least = sum(pmax(0, k + s - n)[some]), most = sum(pmin(k, s)[some]), wanted = s)
}

uniform_noisy <- function(secret, hits, wanted, s) {
    people <- sum(hits)
    asked <- sum(wanted)
    if (asked %in% c(0, secret$values)) {
        known <- if (asked) people else 0
        return(list(value = known, placement = 0, noise = 0, least = known, most = known, wanted = s))
    }
    n <- secret$sizes
    part <- hits / n
    share <- pmin(pmax(s / n, 0), 1)
    mixed <- hits * share * (1 - share) * (n - hits) / pmax(n - 1, 1)
    noise <- asked * (1 - asked / secret$values) * sum(part^2 * secret$noise)
    list(value = sum(part * s), placement = sum(mixed), noise = noise, least = 0, most = people, wanted = s)
}

# A guess as every estimator gives it.
guess_of <- function(value, variance, known, note = "", loose = 0, further = 0, limits = FALSE)
    list(value = value, error = sqrt(variance), least = known$least, most = known$most, note = note, loose = loose,
         further = further, limits = limits)

as_paper <- function(secret, known) {
    few <- !secret$blind && secret$groups < FEWEST && !(known$least == known$most)
    note <- if (few) paste("what is certain, no interval: fewer than", FEWEST, "groups tell too little about their inside") else BIASED
    guess_of(known$value, known$placement + known$noise, known, note, limits = few)
}
