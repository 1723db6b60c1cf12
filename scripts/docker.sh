#!/usr/bin/env bash
# Builds the container image, runs it as a contest would (at most 4 CPUs, 4 GB)
# and fires the ammo of all three phases at it.
#
#   scripts/docker.sh [--local-base] [FLAG...]     flags go to redoubt serve
#
# The set is the folder $REDOUBT_TRAVELS, which holds data, ammo and answers,
# or else one that redoubt gen makes. Exits as redoubt check does: 0 if all
# answers are right, 1 if some are wrong, 2 if it could not fire.
#
# --local-base is for machines that cannot pull golang:1.26: it builds on a
# stand-in of that name made of the local Go toolchain, the modules that go.mod
# asks for and a static busybox. It needs no network, and is removed at the end.
set -euo pipefail
cd "$(dirname "$0")/.."

base=golang:1.26 # as in the Dockerfile
image=redoubt

fail() {
	echo "docker.sh: $*" >&2
	exit 2
}

work=$(mktemp -d)
container=
base_made=
# shellcheck disable=SC2317 # the trap calls it
cleanup() {
	if [[ -n $container ]]; then docker rm --force "$container" >/dev/null || true; fi
	if [[ -n $base_made ]]; then docker rmi "$image-build" "$base" >/dev/null || true; fi
	chmod -R u+w "$work" # a toolchain that Go downloaded is read-only
	rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 130' INT TERM

make_local_base() {
	if docker image inspect "$base" >/dev/null 2>&1; then
		fail "there is a $base already: leave out --local-base, or remove it with docker rmi $base"
	fi
	local busybox root=$work/base
	busybox=$(command -v busybox) || fail "--local-base needs a static busybox (Debian: apt-get install busybox-static)"
	mkdir -p "$root"/{bin,etc,root,tmp,usr/local}
	cp "$busybox" "$root/bin/busybox"
	ln -s busybox "$root/bin/sh"
	echo 'root:x:0:0:root:/root:/bin/sh' >"$root/etc/passwd"
	cp -R "$(go env GOROOT)" "$root/usr/local/go"
	# Where golang:1.26 has its module cache. What the local cache lacks comes
	# from wherever this machine's go gets its modules.
	GOPROXY="file://$(go env GOMODCACHE)/cache/download,$(go env GOPROXY)" \
		GOMODCACHE=$root/go/pkg/mod go mod download -modcacherw
	base_made=yes
	tar -C "$root" -c . | docker import \
		-c 'ENV PATH=/usr/local/go/bin:/bin' -c 'ENV GOPATH=/go' -c 'ENV GOTOOLCHAIN=local' - "$base"
}

docker version >/dev/null || fail "no Docker daemon answers: start one, or name one in DOCKER_HOST (docs/container.md)"

build_flags=()
if [[ ${1:-} == --local-base ]]; then
	shift
	make_local_base
fi

# A daemon without a bridge (dockerd --bridge=none) has the host's network only.
if docker network inspect bridge >/dev/null 2>&1; then
	network=(--publish 127.0.0.1::80)
	listen=:80
else
	network=(--network host)
	listen=127.0.0.1:0
	build_flags+=(--network host)
fi

if [[ -n $base_made ]]; then
	# A name for the first stage, by which cleanup finds its 500 MB.
	docker build "${build_flags[@]}" --target build --tag "$image-build" .
fi
docker build "${build_flags[@]}" --tag "$image" . ||
	fail "the image does not build; where $base cannot be pulled, --local-base helps"

go build -buildvcs=false -o "$work/redoubt" .
set=${REDOUBT_TRAVELS:-}
if [[ -z $set ]]; then
	set=$work/set
	"$work/redoubt" gen --out "$set" --users 2000 --locations 1500 --visits 20000
fi

# Whole CPUs, not --cpus: that is a quota, which stops all threads of the
# server for the rest of each 100 ms once it is used up.
cpus=$(nproc)
cpus=$((cpus < 4 ? cpus : 4))
container=$(docker run --detach "${network[@]}" --cpuset-cpus "0-$((cpus - 1))" --memory 4g \
	--volume "$(cd "$set/data" && pwd):/tmp/data:ro" "$image" serve --listen "$listen" "$@")

# The log ends with the container, so that one that fails is not waited for.
exec 3< <(exec docker logs --follow "$container" 2>/dev/null)
log=$!
address=
while read -r line <&3; do
	if [[ $line == "listening on "* ]]; then
		address=${line#listening on }
		break
	fi
done
kill "$log" 2>/dev/null || true
if [[ -z $address ]]; then
	docker logs "$container" >&2
	fail "the server ended before it listened"
fi
if [[ $listen == :80 ]]; then
	address=$(docker port "$container" 80/tcp)
fi

code=0
"$work/redoubt" check --target "$address" --dir "$set" || code=$?

echo
docker logs "$container" 2>&1
docker stats --no-stream --format 'container: {{.MemUsage}} of memory' "$container"
docker image inspect --format 'image: {{.Size}} bytes' "$image"
docker stop "$container" >/dev/null
ended=$(docker inspect --format '{{.State.ExitCode}}{{if .State.OOMKilled}}, out of memory{{end}}' "$container")
if [[ $ended != 0 ]]; then
	echo "docker.sh: the server did not end in order after SIGTERM: exit code $ended" >&2
	[[ $code -ne 0 ]] || code=1
fi
case $code in
0) echo "PASS: every answer of the container is right ($cpus CPUs, 4 GB)" ;;
*) echo "FAIL: see above (check exits with $code)" ;;
esac
exit "$code"
