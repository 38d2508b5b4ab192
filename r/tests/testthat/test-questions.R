test_that("figures are those that can be counted by hand", {
  skip_without_glasshouse()
  risk <- gh_assess(people, c("age", "sex"), "illness", ignore = NULL)
  expect_s3_class(risk, "gh_assessment")
  expect_equal(risk$records, 8)
  who <- risk$results[is.na(risk$results$sensitive), ]
  expect_equal(who$known, c("age", "sex", "age, sex"))
  expect_equal(who$classes, c(4L, 2L, 7L))
  expect_equal(who$certain, c(0, 0, 6 / 8))
  expect_equal(who$guess, c(4 / 8, 2 / 8, 7 / 8))
  secret <- risk$results[!is.na(risk$results$sensitive), ]
  expect_equal(secret$guess, c(6 / 8, 6 / 8, 7 / 8))
  expect_equal(secret$guess_before, rep(6 / 8, 3))
  expect_false(risk$meets)
  expect_equal(risk$columns$counted_as[risk$columns$column == "illness"], "sensitive")
})

test_that("print says the verdict, the sentences and where the report is, in either language", {
  skip_without_glasshouse()
  english <- gh_assess(people, c("age", "sex"), "illness", subsets = FALSE)
  expect_equal(nrow(english$results), 2L)
  expect_output(print(english), "Do not publish as it is")
  expect_output(print(english), "report.html")
  expect_true(file.exists(file.path(english$run, "report.html")))
  portuguese <- gh_assess(people, c("age", "sex"), "illness", language = "pt-BR")
  expect_output(print(portuguese), "N\u00e3o publique")
})

test_that("a rule is met or not, and every condition says by how much", {
  skip_without_glasshouse()
  verdict <- gh_check(people, sensitive = "illness")
  expect_false(verdict$meets)
  expect_equal(verdict$decision, "do-not-publish")
  expect_true(any(!verdict$conditions$met))
  expect_setequal(verdict$columns$column, names(people))
})

test_that("a survey is assessed as sdcMicro does it", {
  skip_without_glasshouse()
  # The eight records of sdcMicro's tests of freqCalc and indivRisk: fk and rk.
  survey <- data.frame(
    A = c(2, 3, 2, 2, 3, 3, 1, NA), B = c(3, 3, 3, 3, 3, 3, 4, 3), C = c(1, 3, NA, 2, 1, 1, NA, 1),
    w = c(18, 45.5, 39, 17, 92, 8, 123.5, 51), home = c(1, 1, 2, 2, 3, 3, 4, 4)
  )
  risk <- gh_assess(
    survey, c("A", "B", "C"),
    weight = "w", household = "home", missing_as = "matches", suda = 0.1, per_record = TRUE
  )
  expect_equal(risk$each$size, c(3, 1, 4, 2, 3, 3, 1, 5))
  expect_equal(risk$each$individual, c(
    0.013552968, 0.085791288, 0.010504889, 0.032466112, 0.009756889, 0.009756889, 0.039316254, 0.005962551
  ), tolerance = 1e-6)
  expect_true(all(c("suda", "dis_suda") %in% names(risk$each)))
  expect_equal(risk$answer$households$one_member$named, 4)
  expect_equal(risk$answer$weighted$individual$sdcmicro_expected, 0.2074722, tolerance = 1e-6)
  plain <- gh_assess(survey[c("A", "B", "C")], c("A", "B", "C"))
  expect_null(plain$each)
  expect_error(gh_assess(survey, c("A", "B", "C"), missing_as = "anything"), "missing_as|arg")
})

test_that("an object of sdcMicro is assessed as it was changed", {
  skip_without_glasshouse()
  risk <- gh_assess(a_survey())
  expect_setequal(unique(risk$results$known), c("age", "sex", "age, sex"))
  expect_equal(unique(stats::na.omit(risk$results$sensitive)), "illness")
})

test_that("what is wrong is one line with the exit code of the program", {
  skip_without_glasshouse()
  problem <- tryCatch(gh_assess(people, "age", policy = "no-such-rule"), error = identity)
  expect_s3_class(problem, "glasshouse_error")
  expect_equal(problem$code, 2L)
  expect_match(problem$message, "no-such-rule")
})
