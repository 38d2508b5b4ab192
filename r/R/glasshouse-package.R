#' What a data release lets an adversary learn
#'
#' Four questions of Glasshouse, asked of data frames: [gh_assess()] measures what somebody learns who knows some columns
#' about a person, [gh_check()] holds a release against a rule, [gh_protect()] finds what must be done to meet it at the
#' least cost, and [gh_tables()] says who can be read out of published tables.
#'
#' Each calls the command line of the same name and reads what it prints: the figures are the same in both. The program
#' is found by [gh_command()].
#'
#' @keywords internal
"_PACKAGE"
