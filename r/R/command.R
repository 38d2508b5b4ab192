#' Where Glasshouse is
#'
#' The program that all questions are put to: the option `glasshouse.command`, else the environment variable
#' `GLASSHOUSE_COMMAND`, else `glasshouse` on the search path.
#'
#' @return The path of the program, a string. It is an error if there is none.
#' @examples
#' if (gh_available()) gh_command()
#' @export
gh_command <- function() {
  named <- getOption("glasshouse.command", Sys.getenv("GLASSHOUSE_COMMAND"))
  path <- Sys.which(if (nzchar(named)) named else "glasshouse")
  if (!nzchar(path)) {
    gh_stop(if (nzchar(named)) {
      sprintf("there is no program \"%s\"; set options(glasshouse.command = ) to where glasshouse is", named)
    } else {
      paste(
        "Glasshouse is not on the search path; install it with \"python -m pip install glasshouse\",",
        "or set options(glasshouse.command = ) to where it is"
      )
    }, 127L)
  }
  unname(path)
}

#' Whether Glasshouse can be asked
#'
#' @return `TRUE` if [gh_command()] finds the program, else `FALSE`.
#' @examples
#' gh_available()
#' @export
gh_available <- function() {
  !inherits(try(gh_command(), silent = TRUE), "try-error")
}

#' Which version of Glasshouse answers
#'
#' @return The version, as [numeric_version()].
#' @examples
#' if (gh_available()) gh_version()
#' @export
gh_version <- function() {
  answer <- gh_run("--version", codes = 0L)
  numeric_version(sub(".*?([0-9]+(\\.[0-9]+)+).*", "\\1", answer$output, perl = TRUE))
}

# Stop with one line, as a condition that a script can catch by its class and its exit code.
gh_stop <- function(message, code) {
  stop(structure(
    class = c("glasshouse_error", "error", "condition"),
    list(message = message, call = NULL, code = code)
  ))
}

# Run the program with these words and return its exit code and what it printed on standard output.
#
# An exit code that is not among `codes` stops with the last line that it wrote on standard error.
gh_run <- function(words, codes) {
  program <- gh_command()
  output <- tempfile("glasshouse-")
  errors <- tempfile("glasshouse-")
  # R puts libraries of its own first, which another Python would then load instead of those that it was built with.
  libraries <- Sys.getenv("LD_LIBRARY_PATH", NA)
  Sys.unsetenv("LD_LIBRARY_PATH")
  on.exit({
    unlink(c(output, errors))
    if (!is.na(libraries)) Sys.setenv(LD_LIBRARY_PATH = libraries)
  })
  code <- suppressWarnings(system2(program, shQuote(words), stdout = output, stderr = errors, stdin = ""))
  lines <- gh_lines(errors)
  if (!code %in% codes) {
    last <- if (length(lines)) sub("^glasshouse: ", "", lines[length(lines)]) else sprintf("glasshouse ended with code %d", code)
    gh_stop(last, code)
  }
  list(code = code, output = paste(gh_lines(output), collapse = "\n"))
}

gh_lines <- function(path) {
  lines <- readLines(path, warn = FALSE, encoding = "UTF-8")
  lines[nzchar(trimws(lines))]
}

# Ask a question that answers with JSON: run it into a folder, and read both.
#
# `folder` is where the run folder is kept, NULL for a temporary one that goes with the R session.
gh_ask <- function(words, folder, language, codes = c(0L, 3L)) {
  kept <- !is.null(folder)
  place <- if (kept) path.expand(folder) else tempfile("glasshouse-run-")
  answer <- gh_run(c(words, "--out", place, "--lang", language, "--json"), codes)
  if (answer$code == 3L) {
    warning("a limit stopped it: what is not proved is said to be open", call. = FALSE)
  }
  page <- jsonlite::fromJSON(file.path(place, "report.json"), simplifyVector = FALSE)$pages[[language]]
  list(
    code = answer$code,
    answer = jsonlite::fromJSON(answer$output, simplifyVector = FALSE),
    page = page,
    folder = place
  )
}
