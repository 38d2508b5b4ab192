test_that("a protected file has the columns that were asked for and meets the rule", {
  skip_without_glasshouse()
  many <- data.frame(age = rep(20:39, 10), sex = c("f", "m"), illness = c("flu", "flu", "flu", "asthma"))
  kept <- tempfile()
  protection <- gh_protect(many, c("age", "sex"), "illness", policy = "internal", out = kept)
  expect_true(protection$meets)
  expect_true(protection$recommended %in% protection$versions$version)
  expect_setequal(names(protection$release), names(many))
  expect_equal(nrow(protection$release), 200L)
  expect_true(dir.exists(file.path(kept, "versions")))
  expect_error(gh_protect(many, c("age", "sex"), policy = "internal", out = kept), class = "glasshouse_error")
})

test_that("tables together say what none says alone", {
  skip_without_glasshouse()
  by_sex <- data.frame(sex = c("f", "f", "m", "m"), ill = c("yes", "no"), count = c("*", "7", "2", "9"))
  by_illness <- data.frame(ill = c("yes", "no"), count = c(3, 16))
  together <- gh_tables(list(by_sex = by_sex, by_illness = by_illness), suppressed = c(1, 4))
  expect_equal(together$status, "proved")
  expect_equal(names(together$cells), c("sex", "ill", "min", "max"))
  hidden <- together$cells[together$cells$sex == "f" & together$cells$ill == "yes", ]
  expect_equal(c(hidden$min, hidden$max), c(1, 1))
  expect_equal(together$certain_persons, 19)
  expect_error(gh_tables(by_sex), class = "glasshouse_error")
})

test_that("every answer can be drawn", {
  skip_without_glasshouse()
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  expect_invisible(plot(gh_assess(people, c("age", "sex"), "illness")))
  expect_invisible(plot(gh_check(people, sensitive = "illness"), main = "a title of one's own"))
})
