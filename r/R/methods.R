#' Print and plot what was measured
#'
#' `print()` shows the verdict, the sentences that the report begins with, and what to do. `plot()` draws, for
#' `gh_assessment`, how much somebody learns by how many columns she knows (dotted: without the release); for `gh_check`, every condition against its
#' limit; for `gh_protection`, what each version costs; for `gh_tables`, how many people each table makes certain.
#'
#' @param x What [gh_assess()], [gh_check()], [gh_protect()] or [gh_tables()] returned.
#' @param ... For `plot()`: further arguments of [graphics::barplot()] or [graphics::plot()]; for `print()`: nothing.
#' @return `x`, invisibly.
#' @examplesIf glasshouse::gh_available()
#' people <- data.frame(age = c(31, 31, 42, 42), sex = c("f", "m"), illness = c("flu", "flu", "flu", "asthma"))
#' plot(gh_assess(people, c("age", "sex"), "illness"))
#' @name glasshouse-methods
NULL

#' @rdname glasshouse-methods
#' @export
print.glasshouse <- function(x, ...) {
  gh_wrapped(x$title)
  if (!is.null(x$headline)) gh_wrapped(x$headline)
  cat("\n")
  for (sentence in x$sentences) gh_wrapped(sentence, "- ")
  if (length(x$actions)) {
    cat("\n")
    for (sentence in x$actions) gh_wrapped(sentence, "> ")
  }
  cat("\n")
  cat("Report: ", file.path(x$run, "report.html"), "\n", sep = "")
  invisible(x)
}

gh_wrapped <- function(text, bullet = "") {
  writeLines(strwrap(text, width = min(getOption("width"), 100L), initial = bullet, prefix = strrep(" ", nchar(bullet))))
}

#' @rdname glasshouse-methods
#' @export
plot.gh_assessment <- function(x, ...) {
  results <- x$results
  kinds <- split(results, ifelse(is.na(results$sensitive), "who it is", results$sensitive))
  sizes <- sort(unique(results$size))
  most <- vapply(kinds, function(rows) {
    vapply(sizes, function(size) max(c(0, rows$guess[rows$size == size])), 0)
  }, numeric(length(sizes)))
  most <- matrix(most, nrow = length(sizes), dimnames = list(sizes, names(kinds)))
  gh_plot(
    graphics::matplot, list(...),
    x = sizes, y = 100 * most, type = "b", pch = 19, lty = 1, ylim = c(0, 100), xaxt = "n",
    xlab = "columns that somebody knows", ylab = "right guesses at most (%)", main = gh_titled(x$title)
  )
  before <- vapply(kinds, function(rows) rows$guess_before[1], 0)
  graphics::abline(h = 100 * before, col = seq_along(kinds), lty = 3) # what was so without the release
  graphics::axis(1, at = sizes)
  graphics::legend("topleft", legend = names(kinds), col = seq_along(kinds), lty = 1, pch = 19, bty = "n")
  invisible(x)
}

#' @rdname glasshouse-methods
#' @export
plot.gh_check <- function(x, ...) {
  rows <- x$conditions
  labels <- ifelse(is.na(rows$of), rows$measure, paste0(rows$measure, ": ", rows$of))
  shown <- rev(pmin(gh_used(rows), 2))
  saved <- graphics::par(mar = c(4, 14, 3, 1))
  on.exit(graphics::par(saved))
  gh_plot(
    graphics::barplot, list(...),
    height = shown, names.arg = rev(labels), horiz = TRUE, las = 1, xlim = c(0, 2), cex.names = 0.8,
    col = rev(ifelse(rows$met, "#0072b2", "#d55e00")), border = NA,
    xlab = "measured, as a part of what the rule allows (2: twice as much, or more)", main = gh_titled(x$headline)
  )
  graphics::abline(v = 1, lty = 2)
  invisible(x)
}

# How much of what a limit allows is used up; where at least so much is asked, how much of that is lacking.
gh_used <- function(rows) {
  floor <- abs(rows$value - rows$limit - rows$margin) < abs(rows$limit - rows$value - rows$margin)
  above <- ifelse(floor, rows$limit, rows$value)
  below <- ifelse(floor, rows$value, rows$limit)
  ifelse(below > 0, above / below, ifelse(rows$met, 0, Inf))
}

#' @rdname glasshouse-methods
#' @export
plot.gh_protection <- function(x, ...) {
  rows <- x$versions[order(x$versions$error), ]
  gh_plot(
    graphics::barplot, list(...),
    height = 100 * rows$error, names.arg = rows$version, las = 1, border = NA,
    col = ifelse(rows$version == x$recommended, "#0072b2", "#bbbbbb"),
    ylab = "error of tables made from it (%)", main = gh_titled(x$headline)
  )
  invisible(x)
}

#' @rdname glasshouse-methods
#' @export
plot.gh_tables <- function(x, ...) {
  gh_plot(
    graphics::barplot, list(...),
    height = x$ranking$no_longer_certain, names.arg = x$ranking$table, las = 1, border = NA, col = "#0072b2",
    ylab = "people who are certain because of it", main = gh_titled(x$title)
  )
  invisible(x)
}

# Draw with these arguments, and with those that a caller gave instead of them.
gh_plot <- function(draw, given, ...) {
  do.call(draw, utils::modifyList(list(...), given))
}

# A title in lines that fit above a picture.
gh_titled <- function(text) paste(strwrap(text, width = 60), collapse = "\n")
