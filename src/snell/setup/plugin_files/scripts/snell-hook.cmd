@echo off
rem Runs snell-hook, else a Python that has Snell; else says once that Snell is missing, and lets every call pass.
rem Searches PATH only: by default `where` and the command processor search the working directory first.
setlocal
set NoDefaultCurrentDirectoryInExePath=1
set SNELL_FOUND=
for /f "delims=" %%p in ('%SystemRoot%\System32\where.exe $PATH:snell-hook.exe 2^>nul') do (
    if not defined SNELL_FOUND set "SNELL_FOUND=%%p"
)
if defined SNELL_FOUND (
    "%SNELL_FOUND%" %*
    exit /b
)
for /f "delims=" %%p in ('call "%~dp0find_python.cmd" 2^>nul') do set "SNELL_FOUND=%%p"
if defined SNELL_FOUND (
    "%SNELL_FOUND%" -I -m snell hook %*
    exit /b
)
if not exist "%TEMP%\snell-not-installed" (
    echo.>"%TEMP%\snell-not-installed"
    echo {"systemMessage": "Snell plugin does nothing: Snell is not installed; its README says how"}
)
exit /b 0
