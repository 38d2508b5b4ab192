# Lists that JSON gives, as data frames with one row each.

# One value of a list, NA where JSON has null or nothing.
gh_value <- function(list, name, missing = NA) {
  value <- list[[name]]
  if (is.null(value)) missing else value
}

gh_column <- function(rows, name, missing = NA) {
  values <- lapply(rows, gh_value, name, missing)
  if (length(values)) unlist(values) else missing[0]
}

gh_joined <- function(rows, name) {
  vapply(rows, function(row) paste(unlist(row[[name]]), collapse = ", "), "")
}

# The figures of every attack, a row for each set of columns that somebody may know.
gh_results <- function(rows) {
  known <- lapply(rows, function(row) unlist(row$quasi_identifiers))
  part <- function(kind, name) {
    vapply(rows, function(row) as.double(gh_value(row[[kind]], name)), 0)
  }
  data.frame(
    attack = gh_column(rows, "attack", NA_character_),
    known = vapply(known, paste, "", collapse = ", "),
    size = lengths(known),
    sensitive = as.character(gh_column(rows, "sensitive", NA_character_)),
    classes = as.integer(gh_column(rows, "classes", NA_integer_)),
    uniques = as.integer(gh_column(rows, "uniques", NA_integer_)),
    certain = part("deterministic", "posterior"),
    certain_before = part("deterministic", "prior"),
    guess = part("probabilistic", "posterior"),
    guess_before = part("probabilistic", "prior"),
    stringsAsFactors = FALSE
  )
}

# The conditions of a rule, each with what was measured and whether it is met.
gh_conditions <- function(verdict) {
  rows <- verdict$conditions
  data.frame(
    measure = gh_column(rows, "measure", NA_character_),
    of = as.character(gh_column(rows, "of", NA_character_)),
    value = as.double(gh_column(rows, "value", NA_real_)),
    limit = as.double(gh_column(rows, "limit", NA_real_)),
    margin = as.double(gh_column(rows, "margin", NA_real_)),
    met = as.logical(gh_column(rows, "met", NA)),
    stringsAsFactors = FALSE
  )
}

# What became of every column: judged as known or sensitive, left out, or not looked at.
gh_coverage <- function(verdict) {
  kinds <- verdict$coverage
  columns <- lapply(kinds, unlist)
  data.frame(
    column = as.character(unlist(columns, use.names = FALSE)),
    counted_as = rep(names(kinds), lengths(columns)),
    stringsAsFactors = FALSE
  )
}

# What is common to all answers: the verdict, its conditions and columns, and the sentences of the report.
gh_answer <- function(class, asked, verdict, ...) {
  page <- asked$page
  headline <- if (!is.null(page$ruling)) paste0(page$ruling$headline, ": ", page$ruling$tally)
  structure(
    class = c(class, "glasshouse"),
    list(
      ...,
      meets = isTRUE(verdict$meets),
      decision = gh_value(verdict, "decision", NA_character_),
      policy = gh_value(verdict, "policy", NA_character_),
      conditions = gh_conditions(verdict),
      columns = gh_coverage(verdict),
      title = page$title,
      headline = headline,
      sentences = vapply(page$findings, function(finding) finding$sentence, ""),
      actions = vapply(page$actions, function(action) action$sentence, ""),
      run = asked$folder
    )
  )
}
