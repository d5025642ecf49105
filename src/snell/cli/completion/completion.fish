function __snell_words
    set -l before (commandline -opc)
    snell completion words -- $before[2..-1] (commandline -ct) 2>/dev/null
end
complete -c snell -k -a '(__snell_words)'
