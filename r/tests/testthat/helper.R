# Eight people, of whom two share everything that somebody may know.
people <- data.frame(
  age = c(31, 31, 42, 42, 57, 57, 63, 63),
  sex = c("f", "m", "f", "m", "f", "m", "f", "f"),
  illness = c("flu", "flu", "flu", "asthma", "flu", "flu", "asthma", "flu")
)

skip_without_glasshouse <- function() skip_if_not(gh_available(), "Glasshouse is not installed")

# The class of the same name in sdcMicro, with the slots that are read of it.
a_survey <- function() {
  slots <- c(
    "origData", "keyVars", "numVars", "pramVars", "strataVar", "weightVar", "sensibleVar", "manipKeyVars",
    "manipNumVars", "manipPramVars", "manipStrataVar", "deletedVars"
  )
  where <- new.env()
  methods::setClass("sdcMicroObj", slots = stats::setNames(rep("ANY", length(slots)), slots), where = where)
  changed <- people[c("age", "sex")]
  changed$age[1] <- NA
  methods::new(
    methods::getClass("sdcMicroObj", where = where),
    origData = cbind(people, w = 2), keyVars = 1:2, numVars = NULL, pramVars = NULL, strataVar = NULL, weightVar = 4L,
    sensibleVar = 3L, manipKeyVars = changed, manipNumVars = NULL, manipPramVars = NULL, manipStrataVar = NULL,
    deletedVars = NULL
  )
}
