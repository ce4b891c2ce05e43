# The model of boxes: the mean of one in which columns add up and one in which they multiply (docs/formats.md has the formulas).

PRIOR <- "no interval: mostly prior, since hardly any box tells these people from others"

estimate_boxes <- function(secret, model, asked, known) {
    cells <- model$cells
    own <- tabulate(cells$cell[asked$rows], nrow(cells$line))
    adding <- estimate_adding(secret, model$adding, cells, own, asked, known)
    inner <- if (!is.null(model$multiplying)) estimate_multiplying(secret, model, own, asked)
    value <- max(adding$value, 0)
    found <- if (is.null(inner)) list(value = value, variance = adding$variance, note = "", loose = 0, further = 0) else
        list(value = value + model$weight * (inner$value - value), variance = inner$variance + (value - inner$value)^2,
             note = inner$note, loose = inner$loose)
    if (!is.null(inner)) found$further <- if (inner$further > 0) max(0, inner$value + inner$further - found$value) else 0
    if (!model$covers) found$note <- model$near
    found
}

estimate_adding <- function(secret, model, cells, own, asked, known) {
    base <- known$placement + known$noise + (model$drift * known$placement)^2
    share <- sum(secret$totals[asked$wanted]) / secret$people
    if (share <= 0 || share >= 1) return(list(value = known$value, variance = base))
    spread <- share * (1 - share)
    many <- sum(asked$wanted)
    s2 <- spread + model$noise * many * (1 - many / secret$values)
    # How the people asked about differ from as many drawn from the same boxes.
    part <- asked$hits / secret$sizes
    partly <- asked$hits > 0 & asked$hits < secret$sizes
    net <- ifelse(partly[cells$box], own - part[cells$box] * cells$weight, 0)
    features <- unlist(lapply(model$blocks, function(block)
        crossprod(block$features, sum_by(net, block$line, nrow(block$features)))))
    scaled <- as.numeric(features) * model$scale
    along <- as.numeric(crossprod(model$turn, scaled))
    score <- colSums(model$score[asked$wanted, , drop = FALSE])
    total <- sum(known$wanted^2 / secret$sizes) - sum(known$wanted)^2 / secret$people
    weights <- softmax(model$evidence - 0.5 * (total - as.numeric(model$gain %*% score^2)) / s2)
    gain <- as.numeric(crossprod(model$gain, weights))
    shift <- sum(along * gain * score)
    unseen <- max(0, sum(scaled^2) - sum(along^2)) * sum(weights * model$grid)
    clustered <- sum((asked$hits * (secret$sizes - asked$hits) / secret$sizes)^2 / secret$sizes)
    more <- s2 * (sum(gain * along^2) + unseen) + spread * model$cluster * clustered + model$share2 * shift^2
    list(value = known$value + shift, variance = base + more)
}

softmax <- function(logs) {
    found <- exp(logs - max(logs))
    found / sum(found)
}

# The chance of a wanted value for the people of every cell.
cell_chances <- function(secret, model, wanted, cells) {
    found <- numeric(cells)
    for (value in which(wanted)) {
        for_value <- which(secret$value == value)
        at <- sequence(model$many[for_value], model$place[for_value])
        cell <- sequence(model$many[for_value], model$start[for_value])
        found[cell] <- found[cell] + model$chance[at] * rep(model$unit[for_value], model$many[for_value])
    }
    found
}

estimate_multiplying <- function(secret, model, own, asked) {
    cells <- model$cells
    inner <- model$multiplying
    wanted <- asked$wanted[secret$value]
    goal <- if (is.null(inner$goal)) secret$count else inner$goal
    by_box <- function(x) sum_by(x * wanted, secret$st_group, secret$groups)
    held <- by_box(goal)
    some <- by_box(rep(1, length(goal))) > 0
    noise <- free <- numeric(secret$groups)
    if (!is.null(inner$goal)) {
        noise <- by_box(inner$goal_variance)
        free <- by_box(inner$shrinkage * goal) / pmax(held, 1e-9)
    }
    open <- asked$hits > 0 & some & !(asked$hits == secret$sizes & noise == 0)
    p <- asked$chances
    inside <- open[cells$box]
    found <- sum(held[asked$hits > 0 & !open]) + sum((own * p)[inside])
    p <- pmin(p, 1)
    s <- p * (1 - p)
    a <- sum_by(own * s, cells$box, secret$groups)
    q <- sum_by(cells$weight * s, cells$box, secret$groups)
    open <- open & q > 0
    share <- ifelse(open, a / q, 0)
    left <- (1 - free) * share
    u <- ifelse(open, pmax(0, a * (1 - left)), 0)
    placement <- sum(pmax(0, a * (1 - share))[open])
    more <- ifelse(open[cells$box], s * (own - left[cells$box] * cells$weight), 0)
    differ <- numeric(cells$lines)
    for (j in seq_len(ncol(cells$line))) differ <- differ + sum_by(more, cells$line[, j], cells$lines)
    along <- as.numeric(crossprod(inner$directions, differ))
    unknown <- unknown_of(secret, inner, cells, asked$wanted, along, goal)
    each <- ifelse(open[cells$box], s * (1 - left[cells$box]), 0)
    loose <- unknown$variance + inner$error2[2] * sum(along[-1]^2) +
        own_codes(cells, inner, asked, unknown, each)
    variance <- placement + loose + sum((share^2 * noise)[open]) + inner$error2[1] * sum(u^2)
    mostly <- 2 * unknown$apart > variance && unknown$before > 0 && unknown$apart / unknown$before > inner$untold
    list(value = found, variance = variance, note = if (mostly) PRIOR else "", loose = loose,
         further = further_of(secret, inner, asked, found, goal, held))
}

# How many more than estimated there may be of few people, as far as boxes can tell; 0 for many.
further_of <- function(secret, inner, asked, found, goal, held) {
    share <- sum_by(goal, secret$value, secret$values)
    share <- share / max(sum(share), 1)
    p <- sum(share[asked$wanted])
    if (p <= 0 || p >= 1 || sum(asked$hits) * p >= inner$reach$few) return(0)
    over <- max(1, sum((share * inner$chi2)[asked$wanted]) / p)
    here <- asked$hits > 0
    hits <- asked$hits[here]
    part <- hits / secret$sizes[here]
    shown <- sum_by(secret$count * asked$wanted[secret$value], secret$st_group, secret$groups)
    expected <- rowSums(inner$expected[, asked$wanted, drop = FALSE])
    lift <- found / max(sum(held[here] * part), 1e-9)
    steps <- (seq_len(inner$reach$steps) - 1) * inner$reach$step
    own <- pmin(outer(expected[here] * part, lift * exp(steps)), hits)
    every <- pmax(expected[here] - own[, 1], 1e-9) + own
    scale <- sum(expected) / (colSums(every) + sum(expected[!here]))
    noise <- if (is.null(secret$noise)) 0 else secret$noise[here] * sum(asked$wanted)
    if (any(noise > 0)) {
        every <- sweep(every, 2, scale, `*`)
        likely <- -0.5 * colSums((shown[here] - every)^2 / (every + noise))
    } else {
        likely <- colSums(shown[here] * log(every)) + sum(shown) * log(scale)
    }
    left <- likely / over - cummax(likely / over) + inner$reach$drop
    first <- which(left < 0)[1]
    if (is.na(first)) return(max(0, sum(pmin(hits, held[here])) - found))
    lift <- lift * exp(steps[first - 1] + inner$reach$step * left[first - 1] / ((likely[first - 1] - likely[first]) / over))
    many <- held[here] * lift * part / (1 + (lift - 1) * part)
    max(0, sum(pmin(hits, many)) - found)
}

# What is a value's own where several values of a column share a level.
own_codes <- function(cells, inner, asked, unknown, each) {
    found <- 0
    for (j in asked$conditions) {
        one <- cells$sharing[[j]]
        if (is.null(one)) next
        people <- sum_by(each[cells$cell[asked$rows]], one$code[asked$rows], length(one$level))
        people <- people - (sum_by(people, one$level, length(one$many)) / one$many)[one$level]
        found <- found + sum(unknown$part * inner$own[j, unknown$values]) * sum(people^2)
    }
    found
}

# What is unknown of a count because the weights are.
unknown_of <- function(secret, inner, cells, wanted, along, goal) {
    share <- sum_by(goal, secret$value, secret$values)
    share <- share / max(sum(share), 1)
    values <- which(wanted & share > 0)
    if (2 * sum(share[values]) > 1) values <- which(!wanted & share > 0)
    own <- share[values]
    p <- sum(own)
    if (p <= 0 || p >= 1) return(list(variance = 0, apart = 0, before = 0, values = integer(0), part = numeric(0)))
    counts <- numeric(cells$lines)
    for (j in seq_len(ncol(cells$line))) counts <- counts + sum_by(cells$weight, cells$line[, j], cells$lines)
    middle <- as.numeric(crossprod(inner$directions, counts)) / max(sum(cells$weight), 1)
    apart <- cbind(along, along - middle * along[1])
    uneven <- sum((own / p)^2)
    excess <- max(1, sum(own * inner$chi2[values]) / p)
    if (length(values) > inner$few_values) {  # a set of many values is as well known as average ones
        told <- information_of(inner, which(share > 0)) / sum(share * (1 - share))
        tau2 <- uneven * inner$wider * as.numeric(inner$tau2 %*% share)
    } else {
        told <- information_of(inner, values) / sum(own * (1 - own))
        tau2 <- inner$wider * as.numeric(inner$tau2[, values, drop = FALSE] %*% (own / p)^2)
    }
    precision <- told * (p * (1 - p))
    diag(precision) <- diag(precision) + 1 / tau2
    known <- excess * colSums(apart * solve(precision, apart, tol = 0))
    list(variance = known[[1]], apart = known[[2]], before = excess * sum((apart[-1, 2])^2 * tau2[-1]),
         values = values, part = (own / p)^2)
}

information_of <- function(inner, values) {
    parts <- sum_by(inner$part[values], inner$which[values], nrow(inner$information))
    packed <- as.numeric(crossprod(inner$information, parts))
    wide <- ncol(inner$directions)
    found <- matrix(0, wide, wide)
    found[lower.tri(found, diag = TRUE)] <- packed
    found + t(found) - diag(diag(found), wide)
}
