# The file that a question is put to: the path that was given, or the data frame written as CSV into this folder.
#
# Values are written as they are: numbers with all their digits and without exponents, dates as ISO, missing as nothing.
gh_file <- function(data, name, folder) {
  if (is.character(data) && length(data) == 1L) {
    return(path.expand(data))
  }
  if (!is.data.frame(data)) {
    gh_stop("data has to be a data frame, the path of a file, or an object of sdcMicro", 2L)
  }
  flat <- vapply(data, function(column) is.atomic(column) && is.null(dim(column)), logical(1))
  if (!all(flat)) {
    gh_stop(sprintf("column \"%s\" is not one vector of values; make it one first", names(data)[!flat][1]), 2L)
  }
  dir.create(folder, showWarnings = FALSE, recursive = TRUE)
  path <- file.path(folder, paste0(gsub("[^A-Za-z0-9_-]", "_", name), ".csv"))
  written <- as.data.frame(lapply(data, gh_text), optional = TRUE, stringsAsFactors = FALSE)
  names(written) <- enc2utf8(names(data))
  utils::write.table(
    written, path,
    sep = ",", na = "", qmethod = "double", row.names = FALSE, col.names = TRUE, fileEncoding = "UTF-8"
  )
  path
}

# A column as the text that stands for it.
gh_text <- function(column) {
  if (inherits(column, c("POSIXct", "POSIXlt"))) {
    return(format(column, "%Y-%m-%dT%H:%M:%S", tz = "UTC"))
  }
  if (is.factor(column) || inherits(column, "Date") || is.character(column)) {
    return(enc2utf8(as.character(column)))
  }
  text <- if (is.double(column)) {
    vapply(as.double(column), format, "", digits = 15, scientific = FALSE, trim = TRUE)
  } else {
    as.character(column)
  }
  text[is.na(column)] <- NA_character_
  text
}

# What an object of sdcMicro says about itself: its data as they are now, and the roles of its columns.
#
# The slots are read as they are, so that sdcMicro need not be installed.
gh_roles <- function(object, original = FALSE) {
  columns <- methods::slot(object, "origData")
  place <- function(slot) {
    at <- methods::slot(object, slot)
    if (is.null(at)) character() else names(columns)[at]
  }
  released <- columns
  if (!original) {
    for (pair in list(
      c("keyVars", "manipKeyVars"), c("numVars", "manipNumVars"),
      c("pramVars", "manipPramVars"), c("strataVar", "manipStrataVar")
    )) {
      changed <- methods::slot(object, pair[2])
      if (!is.null(changed)) {
        released[place(pair[1])] <- changed
      }
    }
    dropped <- methods::slot(object, "deletedVars")
    released <- released[setdiff(names(released), dropped)]
  }
  weight <- place("weightVar")
  list(
    data = released,
    quasi_identifiers = intersect(place("keyVars"), names(released)),
    sensitive = intersect(place("sensibleVar"), names(released)),
    weight = if (length(weight)) weight[1]
  )
}

# An option of the command line, once for each value.
gh_option <- function(option, values) {
  as.vector(rbind(rep(option, length(values)), as.character(values)))
}
