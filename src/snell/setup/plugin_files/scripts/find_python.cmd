@echo off
rem Prints the first Python 3.11 or newer that has Snell; fails if there is none.
rem Searches PATH only, and isolated (-I), so that nothing in the working directory is run.
for %%n in (python.exe python3.exe py.exe) do (
    for /f "delims=" %%p in ('%SystemRoot%\System32\where.exe $PATH:%%n 2^>nul') do (
        "%%p" -I -c "import sys, snell; sys.exit(sys.version_info < (3, 11))" >nul 2>nul && (
            echo %%p
            exit /b 0
        )
    )
)
exit /b 1
