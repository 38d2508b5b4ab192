#' What a file lets an adversary learn
#'
#' Measures, for every subset of the columns that somebody may know, how many people she identifies for certain, how often
#' her best guess at who it is is right, and what she learns about each sensitive column; and judges it by a rule.
#'
#' @param data A data frame, the path of a file that Glasshouse reads, or an object of sdcMicro, of which the data as they
#'   are now are taken, with its key variables, sensitive variables and weight.
#' @param quasi_identifiers Columns that somebody can know about a person. `NULL`: those that are suggested.
#' @param sensitive Columns that she wants to learn.
#' @param id The column that identifies a person, where it is in the file.
#' @param policy The rule: `"open-data"`, `"research-file"`, `"internal"`, or the path of a TOML file.
#' @param subsets `TRUE` for every subset of the columns, `FALSE` for the whole set only. `NULL`: what Glasshouse does.
#' @param drop Columns that will not be in the release.
#' @param ignore Columns to dismiss: nobody could know them, and they say nothing about a person.
#' @param language `"en"` or `"pt-BR"`: of the sentences and the report.
#' @param out A folder for the run, with its report; `NULL` for a temporary one.
#' @param options Further words of the command line, such as `c("--memory", "4G")`.
#' @param original For an object of sdcMicro: `TRUE` for the data as they were before anything was done.
#' @param weight The column of survey weights; of an object of sdcMicro it is known.
#' @param household The column that says who lives together, as `hhId` in sdcMicro.
#' @param missing_as What a missing value of what somebody can know is: a `"value"` like any other; something that
#'   `"matches"` every value, as in sdcMicro; or a reason to leave the record `"apart"`.
#' @param suda The share of the population that is in the file, to score special uniques (SUDA) with.
#' @param per_record `TRUE` for the risk of every record, too, which is personal data.
#' @return A list of class `gh_assessment`: `results`, a data frame with a row for each attack and subset (`certain` and
#'   `guess` are shares of people, `_before` what was so without the release); `each`, where it was asked for, a data frame
#'   with a row for each record (`size` is fk, `individual` the risk rk, `suda` and `dis_suda` scores); `answer`, all
#'   figures as the command line gives them, such as `answer$weighted` and `answer$households`; `meets`, `decision`,
#'   `conditions` and `columns` of the verdict; `sentences` and `actions` of the report; `run`, the folder with `report.html`.
#' @examplesIf glasshouse::gh_available()
#' people <- data.frame(
#'   age = c(31, 31, 42, 42, 57, 57), sex = c("f", "m"), illness = c("flu", "flu", "flu", "asthma", "flu", "flu")
#' )
#' risk <- gh_assess(people, quasi_identifiers = c("age", "sex"), sensitive = "illness")
#' risk
#' risk$results[, c("known", "sensitive", "certain", "guess")]
#' @export
gh_assess <- function(data, quasi_identifiers = NULL, sensitive = NULL, id = NULL, policy = "open-data", subsets = NULL,
                      drop = NULL, ignore = NULL, language = c("en", "pt-BR"), out = NULL, options = character(),
                      original = FALSE, weight = NULL, household = NULL, missing_as = c("value", "matches", "apart"),
                      suda = NULL, per_record = FALSE) {
  language <- match.arg(language)
  missing_as <- match.arg(missing_as)
  question <- gh_question(data, gh_name(substitute(data)), quasi_identifiers, sensitive, id, policy, drop, ignore, original)
  on.exit(unlink(question$folder, recursive = TRUE))
  chosen <- if (!is.null(subsets)) c("--subsets", if (subsets) "all" else "full")
  each <- tempfile("glasshouse-", fileext = ".csv")
  on.exit(unlink(each), add = TRUE)
  words <- c(
    chosen, gh_option("--weight", weight), gh_option("--household", household), gh_option("--suda", suda),
    if (missing_as != "value") c("--missing-as", missing_as), if (per_record) c("--per-record", each)
  )
  asked <- gh_ask(c("assess", question$words, words, options), out, language)
  answer <- asked$answer
  gh_answer(
    "gh_assessment", asked, answer$verdict,
    records = answer$records,
    results = gh_results(answer$results),
    each = if (per_record) utils::read.csv(each, check.names = FALSE, fileEncoding = "UTF-8"),
    answer = answer
  )
}

#' Whether a release meets a rule
#'
#' Every column counts: what is not plainly a secret is taken for something that somebody can know, unless you say
#' otherwise.
#'
#' @inheritParams gh_assess
#' @return A list of class `gh_check`: `meets`, `decision` (`"meets"`, `"restricted"`, `"not-judged"` or
#'   `"do-not-publish"`), `conditions`, `columns`, `sentences`, `actions` and `run`.
#' @examplesIf glasshouse::gh_available()
#' people <- data.frame(age = c(31, 31, 42, 42), sex = c("f", "m"), illness = c("flu", "flu", "flu", "asthma"))
#' gh_check(people, sensitive = "illness")$meets
#' @export
gh_check <- function(data, quasi_identifiers = NULL, sensitive = NULL, id = NULL, policy = "open-data", drop = NULL,
                     ignore = NULL, language = c("en", "pt-BR"), out = NULL, options = character(), original = FALSE) {
  language <- match.arg(language)
  question <- gh_question(data, gh_name(substitute(data)), quasi_identifiers, sensitive, id, policy, drop, ignore, original)
  on.exit(unlink(question$folder, recursive = TRUE))
  asked <- gh_ask(c("check", question$words, options), out, language, codes = c(0L, 3L, 4L))
  answer <- gh_answer("gh_check", asked, asked$answer, records = asked$answer$records)
  answer$meets <- asked$code == 0L
  answer
}

#' Protect a file so that it meets a rule
#'
#' Looks for what must be done to meet a rule at the least cost: generalising, suppressing or blanking cells, in several
#' ways, each measured again by the attacks themselves.
#'
#' @inheritParams gh_assess
#' @param keep Further columns to release as they are.
#' @param suppression The largest share of records that a version may suppress.
#' @return A list of class `gh_protection`: `release`, the data frame to publish, all columns text; `recommended`, its
#'   name; `versions`, a data frame with the error and the loss of each; `meets`, `decision`, `conditions`, `sentences`,
#'   `actions` and `run`, in which every version is a folder of its own.
#' @examplesIf glasshouse::gh_available()
#' people <- data.frame(age = rep(20:39, 10), sex = c("f", "m"), illness = c("flu", "flu", "flu", "asthma"))
#' safer <- gh_protect(people, c("age", "sex"), "illness", policy = "internal")
#' safer$versions
#' head(safer$release)
#' @export
gh_protect <- function(data, quasi_identifiers = NULL, sensitive = NULL, id = NULL, policy = "open-data", keep = NULL,
                       suppression = NULL, language = c("en", "pt-BR"), out = NULL, options = character(),
                       original = FALSE) {
  language <- match.arg(language)
  question <- gh_question(data, gh_name(substitute(data)), quasi_identifiers, sensitive, id, policy, NULL, NULL, original)
  on.exit(unlink(question$folder, recursive = TRUE))
  asked <- gh_ask(
    c("protect", question$words, gh_option("--keep", keep), gh_option("--suppression", suppression), options), out, language
  )
  answer <- asked$answer
  recommended <- gh_value(answer, "recommended", NA_character_)
  gh_answer(
    "gh_protection", asked, answer$verdict,
    release = if (!is.na(recommended)) gh_release(file.path(asked$folder, "versions", recommended, "release.csv")),
    recommended = recommended,
    versions = data.frame(
      version = gh_column(answer$versions, "family", NA_character_),
      meets = as.logical(gh_column(answer$versions, "meets", NA)),
      error = as.double(gh_column(answer$versions, "error", NA_real_)),
      loss = as.double(gh_column(answer$versions, "loss", NA_real_)),
      suppressed = as.integer(gh_column(answer$versions, "suppressed", NA_integer_)),
      stringsAsFactors = FALSE
    )
  )
}

gh_release <- function(path) {
  utils::read.csv(
    path,
    colClasses = "character", check.names = FALSE, na.strings = character(), encoding = "UTF-8"
  )
}

#' Who can be read out of published tables
#'
#' Tables that are harmless each can give people away together. Says, proved in integers, which combinations certainly
#' somebody has, within what bounds every count lies, and which table to withhold.
#'
#' @param tables A list of data frames, or of paths, a published table each: a column for every attribute, and the counts
#'   last. Names of the list are the names of the tables.
#' @param suppressed Two numbers, between which a suppressed count lies.
#' @param people How many people the tables are about, if that is known.
#' @param totals What totals in the tables are of: `"everything"` or `"shown"`.
#' @param rare Up to how many people a combination is rare.
#' @param time_limit CPU seconds after which it stops, with a warning; what is proved by then is there.
#' @inheritParams gh_assess
#' @return A list of class `gh_tables`: `status` (`"proved"` or `"limit"`), `certain_persons`, `possible`, `cells` (a data
#'   frame with the bounds of every combination that somebody can have), `ranking` of the tables, `withhold`, and the
#'   verdict as [gh_assess()] has it.
#' @examplesIf glasshouse::gh_available()
#' by_sex <- data.frame(sex = c("f", "f", "m", "m"), ill = c("yes", "no"), count = c("*", "7", "2", "9"))
#' by_illness <- data.frame(ill = c("yes", "no"), count = c(3, 16))
#' gh_tables(list(by_sex = by_sex, by_illness = by_illness), suppressed = c(1, 4))$cells
#' @export
gh_tables <- function(tables, quasi_identifiers = NULL, sensitive = NULL, suppressed = NULL, people = NULL, totals = NULL,
                      rare = NULL, time_limit = NULL, policy = "open-data", language = c("en", "pt-BR"), out = NULL,
                      options = character()) {
  language <- match.arg(language)
  if (is.data.frame(tables)) {
    tables <- list(tables)
  }
  if (is.null(names(tables))) {
    names(tables) <- rep("", length(tables))
  }
  unnamed <- !nzchar(names(tables))
  names(tables)[unnamed] <- paste0("table_", seq_along(tables))[unnamed]
  folder <- tempfile("glasshouse-data-")
  on.exit(unlink(folder, recursive = TRUE))
  files <- vapply(names(tables), function(name) gh_file(tables[[name]], name, folder), "")
  asked <- gh_ask(
    c(
      "tables", files, gh_option("-q", quasi_identifiers), gh_option("-s", sensitive), "--policy", policy,
      if (!is.null(suppressed)) c("--suppressed", as.character(suppressed)),
      gh_option("--people", people), gh_option("--totals", totals), gh_option("--rare", rare),
      gh_option("--time-limit", time_limit), options
    ), out, language
  )
  answer <- asked$answer
  gh_answer(
    "gh_tables", asked, answer$verdict,
    status = answer$status,
    certain_persons = answer$certain_persons,
    possible = gh_value(answer, "possible", NA),
    cells = gh_cells(answer$cells, unlist(answer$attributes)),
    ranking = data.frame(
      table = gh_column(answer$ranking, "table", NA_character_),
      no_longer_certain = gh_column(answer$ranking, "no_longer_certain", NA_integer_),
      cells = gh_column(answer$ranking, "cells", NA_integer_),
      stringsAsFactors = FALSE
    ),
    withhold = as.character(unlist(answer$withhold))
  )
}

# The cells, a row each: a column for every attribute, and between which counts it lies.
gh_cells <- function(cells, attributes) {
  values <- do.call(rbind, lapply(cells, function(cell) as.character(unlist(cell[[1]]))))
  if (is.null(values)) {
    return(data.frame(min = integer(), max = integer()))
  }
  colnames(values) <- attributes
  data.frame(
    values,
    check.names = FALSE,
    min = vapply(cells, function(cell) as.double(cell[[2]]), 0),
    max = vapply(cells, function(cell) as.double(cell[[3]]), 0),
    stringsAsFactors = FALSE
  )
}

# The words of the command line that all questions about records share, and the folder of the data that they are put to.
gh_question <- function(data, name, quasi_identifiers, sensitive, id, policy, drop, ignore, original) {
  weight <- NULL
  if (inherits(data, "sdcMicroObj")) {
    roles <- gh_roles(data, original)
    if (is.null(quasi_identifiers)) quasi_identifiers <- roles$quasi_identifiers
    if (is.null(sensitive)) sensitive <- roles$sensitive
    weight <- roles$weight
    data <- roles$data
  }
  if (is.data.frame(data)) {
    absent <- setdiff(c(quasi_identifiers, sensitive, id, drop, ignore), names(data))
    absent <- absent[!grepl(",", absent, fixed = TRUE)]
    if (length(absent)) {
      gh_stop(sprintf(
        "column \"%s\" is not in the data frame; it has %s", absent[1],
        paste0("\"", names(data), "\"", collapse = ", ")
      ), 2L)
    }
  }
  folder <- tempfile("glasshouse-data-")
  words <- c(
    gh_file(data, name, folder),
    gh_option("-q", quasi_identifiers), gh_option("-s", sensitive), gh_option("--id", id), "--policy", policy,
    gh_option("--drop", drop), gh_option("--ignore", ignore), gh_option("--weight", weight)
  )
  list(words = words, folder = folder)
}

# What a data frame is called in the report: as its variable is, or "data" where it has no name of its own.
gh_name <- function(expression) {
  if (is.name(expression)) as.character(expression) else "data"
}
