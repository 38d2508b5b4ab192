library(testthat)
library(glasshouse)

test_check("glasshouse")
