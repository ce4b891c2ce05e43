# Groups that people were dealt to: what all of them together teach about how quasi and sensitive values go together.

# What follows from the release and the axes of the file, once.
blind_of <- function(secret, model) {
    if (!is.null(model$prior)) return(model)
    model$root <- sqrt(secret$totals)
    place <- seq_along(model$root)
    near <- if (model$correlation) model$correlation^abs(outer(place, place, `-`)) else diag(length(place))
    model$prior <- near * outer(model$root, model$root)
    model$pf <- model$prior %*% model$f
    model$total_gain <- sum(model$root * (model$prior %*% model$root)) / sum(model$root^2)
    counts <- matrix(0, secret$groups, secret$values)
    counts[cbind(secret$st_group, secret$value)] <- secret$real
    model$g0 <- crossprod(counts, counts / pmax(secret$sizes, 1))
    model
}

# The papers' estimate for every single value.
spread_of <- function(secret, hits) sum_by(secret$count * (hits / pmax(secret$shown, 1))[secret$st_group], secret$value, secret$values)

estimate_blind <- function(secret, model, asked, known) {
    model <- blind_of(secret, model)
    people <- sum(asked$hits)
    found <- count_blind(secret, model, asked, people)
    if (any(secret$shown != secret$sizes)) {
        share <- people / secret$people
        chance <- share * (1 - share) * (sum(secret$totals[asked$wanted]) -
            sum(asked$wanted * as.numeric(model$g0 %*% asked$wanted)))
        found$variance <- (found$variance + max(0, known$placement - chance)) * sum(secret$shown) / secret$people
    }
    c(found, list(note = "", loose = 0, further = 0))
}

count_blind <- function(secret, model, asked, people) {
    n <- secret$people
    wanted <- asked$wanted
    if (people == 0 || !any(wanted)) return(list(value = 0, variance = 0))
    if (all(wanted)) return(list(value = people, variance = 0))
    if (people == n) return(list(value = sum(secret$totals[wanted]), variance = 0))
    share <- people / n
    state <- list(mean = rep(share, secret$values), z = spread_of(secret, asked$hits), expected = numeric(secret$values),
                  spread2 = share * (1 - share), variance = 0)
    parts <- Filter(function(part) part$people < n, asked$columns)
    alone <- length(parts) == 1 || any(vapply(parts, function(part) part$people == people, NA))
    if (!alone && length(parts)) state <- combine_columns(secret, model, parts, wanted, state, share)
    t <- coordinates(model, state$z, state$mean - state$expected)
    weights <- weigh_blind(model, t, state$spread2)
    x <- model$root * wanted
    moved <- functional(model, t, x, state$spread2, weights)
    own <- if (alone || !length(parts)) own_link(model, t, x, state$spread2, weights) else c(0, 0)
    list(value = sum((secret$totals * state$mean)[wanted]) + moved[1] + own[1], variance = state$variance + moved[2] + own[2])
}

coordinates <- function(model, z, mean) as.numeric(model$to_t %*% ((z - as.numeric(model$g0 %*% mean)) / model$root))

weigh_blind <- function(model, t, spread2) {
    s2 <- spread2 / (1 + model$grid)
    scale <- s2 * (1 + outer(model$grid, model$mu))
    softmax(0.5 * log(s2 * (1 + model$grid * model$total_gain)) -
            0.5 * rowSums(log(scale) + rep(t^2, each = length(s2)) / scale))
}

# The prior mean of a condition on several columns, from what each of them alone shows, and what is left to learn.
combine_columns <- function(secret, model, parts, wanted, state, share) {
    n <- secret$people
    ratio <- rep(1, secret$values)
    fitted <- list()
    for (part in parts) {
        own <- part$people / n
        z <- spread_of(secret, part$hits)
        t <- coordinates(model, z, rep(own, secret$values))
        weights <- weigh_blind(model, t, own * (1 - own))
        each <- weights / (1 + outer(model$grid, model$mu))
        moved <- (as.numeric(model$f %*% (colSums(each) * t)) + as.numeric(model$pf %*% (colSums(model$grid * each) * t))) / model$root
        found <- pmin(pmax(own + moved, 0.02 * own), 1)
        slope <- share / own
        ratio <- ratio * found / own
        state$z <- state$z - slope * z
        state$expected <- state$expected + slope * found
        state$spread2 <- state$spread2 - slope^2 * own * (1 - own)
        fitted <- c(fitted, list(list(spread2 = own * (1 - own), t = t, weights = weights, found = found)))
    }
    mean <- pmin(pmax(share * ratio, 0), 1)
    state$mean <- mean * share * n / sum(mean * secret$totals)
    for (one in fitted) {
        lever <- model$root * ifelse(wanted, pmin(state$mean / one$found, 1), 0)
        own <- own_link(model, one$t, lever, one$spread2, one$weights)
        state$variance <- state$variance + functional(model, one$t, lever, one$spread2, one$weights)[2] + own[2] + own[1]^2
    }
    state$spread2 <- max(state$spread2, 0.1 * share * (1 - share))
    state
}

functional <- function(model, t, x, spread2, weights) {
    lever <- levers(model, x, model$grid)
    scale <- 1 + outer(model$grid, model$mu)
    means <- rowSums(lever * rep(t, each = nrow(lever)) / scale)
    taken <- rowSums(lever^2 / scale)
    mean <- sum(weights * means)
    rest <- spread2 / (1 + model$grid) * (sum(x^2) + model$grid * sum(x * (model$prior %*% x)) - taken)
    c(mean, sum(weights * pmax(0, rest)) + sum(weights * (means - mean)^2))
}

levers <- function(model, x, grid)
    outer(rep(1, length(grid)), as.numeric(crossprod(model$f, x))) + outer(grid, as.numeric(crossprod(model$pf, x)))

# How far a link of the values' own moves a sum, and the mean square of what else it may change.
own_link <- function(model, t, x, spread2, weights) {
    used <- weights > 1e-6
    r <- model$grid[used]
    weight <- weights[used]
    noise <- spread2 / (1 + r)
    h <- as.numeric(crossprod(model$f, x))
    scale <- 1 + outer(r, model$mu)
    each <- function(vector) rep(vector, each = length(r))
    information <- rowSums(each(h^2) / scale) / noise
    delta <- rowSums(each(h * t) / scale) / noise / pmax(information, 1e-300)
    error <- 1 / pmax(information, 1e-300)
    unseen <- sum(x^2) - rowSums(levers(model, x, r) * each(h) / scale)
    prior <- outer(noise * r, model$quantiles^2)
    kept <- prior / (prior + error)
    likely <- exp(-0.5 * delta^2 * (1 / (prior + error) - 1 / error)) * sqrt(error / (prior + error))
    total <- rowSums(likely)
    some <- likely / total
    rare <- model$rare * likely / (model$rare * total + (1 - model$rare) * length(model$quantiles))
    move <- sum(weight * unseen * rowSums(rare * kept * delta))
    off <- unseen * kept * delta - move
    c(move, sum(weight * rowSums(some * (off^2 + unseen^2 * kept * error))))
}
