written <- function(data) {
  folder <- tempfile()
  on.exit(unlink(folder, recursive = TRUE))
  readLines(glasshouse:::gh_file(data, "data", folder), encoding = "UTF-8")
}

test_that("values are written as they are", {
  data <- data.frame(
    number = c(100000, 0.1, NA), whole = c(1L, NA, 3L), day = as.Date(c("2020-02-29", NA, "1999-12-31")),
    kind = factor(c("a", NA, "b\"c")), yes = c(TRUE, FALSE, NA)
  )
  expect_equal(
    written(data),
    c(
      "\"number\",\"whole\",\"day\",\"kind\",\"yes\"", "\"100000\",\"1\",\"2020-02-29\",\"a\",\"TRUE\"",
      "\"0.1\",,,,\"FALSE\"", ",\"3\",\"1999-12-31\",\"b\"\"c\","
    )
  )
})

test_that("names and values of any language are kept", {
  data <- data.frame(x = "S\u00e3o Paulo")
  names(data) <- "munic\u00edpio"
  expect_equal(written(data), c("\"munic\u00edpio\"", "\"S\u00e3o Paulo\""))
})

test_that("what is no column is refused in one line", {
  expect_error(written(data.frame(x = I(list(1, 2)))), "\"x\" is not one vector", class = "glasshouse_error")
  expect_error(written(3), "data frame", class = "glasshouse_error")
})

test_that("a column that is not there is named, with those that are", {
  expect_error(gh_assess(people, "aeg"), "\"aeg\" is not in the data frame; it has \"age\", \"sex\", \"illness\"")
})

test_that("an object of sdcMicro brings its roles and what was done to it", {
  roles <- glasshouse:::gh_roles(a_survey())
  expect_equal(roles$quasi_identifiers, c("age", "sex"))
  expect_equal(roles$sensitive, "illness")
  expect_equal(roles$weight, "w")
  expect_true(is.na(roles$data$age[1]))
  expect_equal(glasshouse:::gh_roles(a_survey(), original = TRUE)$data$age[1], 31)
})

test_that("an object that sdcMicro made is read alike", {
  skip_if_not_installed("sdcMicro")
  survey <- cbind(people, w = 2)
  create <- utils::getFromNamespace("createSdcObj", "sdcMicro")
  object <- create(survey, keyVars = c("age", "sex"), weightVar = "w", sensibleVar = "illness")
  roles <- glasshouse:::gh_roles(object)
  expect_equal(roles$quasi_identifiers, c("age", "sex"))
  expect_equal(roles$sensitive, "illness")
  expect_equal(roles$weight, "w")
})

test_that("a program that is not there is said to be missing", {
  old <- options(glasshouse.command = "no-such-program")
  on.exit(options(old))
  expect_false(gh_available())
  expect_error(gh_command(), "no program \"no-such-program\"", class = "glasshouse_error")
})
