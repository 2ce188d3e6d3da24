#!/bin/sh
# One connection of the tiny machine's guest API: as much of it as tests of machines need, and a few ways to misbehave.
end=$(printf '\r')
read -r method path _
path=${path%%\?*}
length=0
shown=
while read -r name value; do
    [ "$name" = "$end" ] && break
    case $name in
    [Cc]ontent-[Ll]ength:) length=${value%"$end"} ;;
    [Aa]uthorization:) shown=${value%"$end"} ;;
    esac
done
body=$(head -c "$length")

answer() {
    printf 'HTTP/1.1 %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s' \
        "$1" ${#2} "$2"
    exit 0
}

picture() {
    printf 'HTTP/1.1 200 OK\r\nContent-Type: image/jpeg\r\nContent-Length: %d\r\nConnection: close\r\n\r\n' \
        "$(stat -c %s /picture.jpg)"
    cat /picture.jpg
    exit 0
}

[ "$shown" = "Bearer $(cat /secret)" ] || answer '401 No' '{"status": "error", "error": "unauthorized", "message": "no"}'

screen='{"width": WIDTH, "height": HEIGHT, "scale": 1.0}'
seen='{"width": WIDTH, "height": HEIGHT, "scale": 1.0, "black": false, "locked": ""}'
case $(cat /lie 2>/dev/null) in
hang) sleep 1000 ;;
huge) printf 'HTTP/1.1 200 OK\r\nContent-Type: image/jpeg\r\nContent-Length: 999999999999\r\n\r\n' && cat /dev/zero ;;
endless) printf 'HTTP/1.1 200 OK\r\nContent-Type: image/jpeg\r\n\r\n' && while printf x; do sleep 1; done ;;
size) printf 'HTTP/1.1 200 OK\r\nContent-Type: image/jpeg\r\nContent-Length: 500000\r\n\r\nshort' && exit 0 ;;
esac
case "$method $path" in
"GET /probe")
    answer '200 OK' "{\"api\": \"1.1\", \"platform\": \"Linux\", \"screen\": $screen, \"capabilities\": [], \"clock\": $(date +%s)}"
    ;;
"GET /health")
    answer '200 OK' "{\"api\": \"1.1\", \"platform\": \"Linux\", \"clock\": $(date +%s.5), \"screen\": $seen, \
\"disks\": [{\"path\": \"/\", \"free\": 1000000000, \"size\": 2000000000}], \"memory_free\": 1000000000, \"pending\": [], \
\"licence_days\": null, \"processes\": []}"
    ;;
"GET /frame") picture ;;
"POST /trust") answer '200 OK' '{"status": "success"}' ;;
# No way out: the line is held and never begins. A refusal would be followed by the next try.
"GET /egress") exec sleep 1000 ;;
"POST /settled") answer '200 OK' '{"status": "success"}' ;;
"POST /input")
    echo >>/done
    answer '200 OK' '{"status": "success"}'
    ;;
# One label that says how many inputs there were.
"GET /accessibility")
    [ -f /done ] || : >/done
    answer '200 OK' "{\"AT\": \"<desktop-frame><label name='inputs' showing='true' screencoord='(9, 9)' \
size='(9, 9)'>$(wc -l </done)</label></desktop-frame>\"}"
    ;;
"GET /windows") answer '200 OK' '{"windows": []}' ;;
"GET /stable") answer '200 OK' '{"status": "success", "stable": true, "elapsed": 0}' ;;
"POST /restored")
    printf '%s' "$body" | sed -n 's/.*"secret": *"\([^"]*\)".*/\1/p' >/secret
    date -s "@$(printf '%s' "$body" | sed -n 's/.*"time": *\([0-9]*\).*/\1/p')" >/dev/null
    answer '200 OK' '{"status": "success"}'
    ;;
"POST /run")
    command=$(printf '%s' "$body" | sed -n 's/.*"command": *"\([^"]*\)".*/\1/p')
    output=$(sh -c "$command" 2>&1 | tr '\n\"' '  ')
    answer '200 OK' "{\"status\": \"success\", \"output\": \"$output\"}"
    ;;
esac
answer '404 No' '{"status": "error", "error": "not_found", "message": "no such route"}'
