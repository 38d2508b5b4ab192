{smcl}
{title:Title}

{phang}{bf:glasshouse} {hline 2} What a data release lets an adversary learn

{title:Syntax}

{p 8 16 2}
{cmd:glasshouse} {it:question} [{varlist}] {ifin} [{cmd:,} {it:options}]

{p 4 4 2}
where {it:question} is {cmd:assess} (what somebody learns), {cmd:check} (whether a rule is met) or {cmd:protect} (what
must be done to meet it). Without {varlist} all variables are the release.

{synoptset 24}{...}
{synopt:{opt q:uasi(varlist)}}what somebody can know about a person; without it, what is suggested{p_end}
{synopt:{opt sens:itive(varlist)}}what she wants to learn{p_end}
{synopt:{opt id(varname)}}what identifies a person{p_end}
{synopt:{opt pol:icy(name)}}{cmd:open-data} (default), {cmd:research-file}, {cmd:internal}, or a file{p_end}
{synopt:{opt out(folder)}}where the report and the protected versions are written{p_end}
{synopt:{opt lang:uage(en|pt-BR)}}of what is said{p_end}
{synopt:{opt opt:ions(words)}}further words of the command line{p_end}
{synopt:{opt com:mand(path)}}where the program is, if not on the search path{p_end}

{title:Description}

{p 4 4 2}
The data in memory are written as CSV into a temporary file (values, not labels), the program is called, what it says
is shown, and the file is erased.

{title:Example}

{phang}{cmd:. sysuse nlsw88}{p_end}
{phang}{cmd:. glasshouse check age race married grade industry wage, sensitive(wage) policy(research-file)}{p_end}
{phang}{cmd:. display r(meets)}{p_end}

{title:Stored results}

{synopt:{cmd:r(code)}}exit code: 0 met or done, 4 not met, 3 a limit stopped it{p_end}
{synopt:{cmd:r(meets)}}1 if {cmd:check} found that the rule is met, else 0{p_end}
{synopt:{cmd:r(run)}}the folder{p_end}

{p 4 4 2}
This file was written by the manual and has not been tried in Stata.
