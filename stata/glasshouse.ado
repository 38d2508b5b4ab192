*! version 0.1.0  What a data release lets an adversary learn: calls the command line of Glasshouse
program define glasshouse, rclass
    version 14

    gettoken question 0 : 0, parse(" ,")
    if !inlist(`"`question'"', "assess", "check", "protect") {
        display as error `"glasshouse `question': not a question; ask assess, check or protect"'
        exit 198
    }
    syntax [varlist] [if] [in] [, Quasi(varlist) SENSitive(varlist) ID(varname) POLicy(string) OUT(string) ///
        LANGuage(string) OPTions(string asis) COMmand(string)]

    marksample touse, novarlist strok
    quietly count if `touse'
    if r(N) == 0 {
        error 2000
    }
    if `"`command'"' == "" local command "glasshouse"
    if `"`policy'"' == "" local policy "open-data"
    if `"`language'"' == "" local language "en"

    tempfile stem
    local data "`stem'.csv"
    local said "`stem'.txt"
    local ended "`stem'.code"
    preserve
    quietly keep if `touse'
    keep `varlist'
    * Values, not their labels: what is judged is what would be published as it is.
    quietly export delimited using "`data'", nolabel quote replace
    restore

    local words `"`question' "`data'" --policy "`policy'" --lang "`language'""'
    foreach column of local quasi {
        local words `"`words' -q "`column'""'
    }
    foreach column of local sensitive {
        local words `"`words' -s "`column'""'
    }
    if "`id'" != "" local words `"`words' --id "`id'""'
    if `"`out'"' != "" local words `"`words' --out "`out'""'
    local words `"`words' `options'"'

    if "`c(os)'" == "Windows" {
        shell "`command'" `words' > "`said'" 2>&1 & call echo %^errorlevel% > "`ended'"
    }
    else {
        shell "`command'" `words' > "`said'" 2>&1; echo \$? > "`ended'"
    }

    capture noisily type "`said'"
    tempname handle
    local code = .
    capture {
        file open `handle' using "`ended'", read text
        file read `handle' line
        local code = real(trim("`line'"))
        file close `handle'
    }
    capture erase "`data'"
    capture erase "`said'"
    capture erase "`ended'"

    if missing(`code') | `code' == 127 {
        display as error "glasshouse was not found: python -m pip install glasshouse, or command(path)"
        exit 601
    }
    return scalar code = `code'
    * What was not judged never counts as met.
    return scalar meets = ("`question'" == "check" & `code' == 0)
    return local run `"`out'"'
    if inlist(`code', 1, 2) {
        exit 198
    }
end
