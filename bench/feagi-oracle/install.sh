#!/bin/bash
# Installs FEAGI's released server into a folder, with a newer C library beside it where this system's is too old for it.
# usage: install.sh FOLDER VERSION
set -euo pipefail
folder=$1 version=$2
mkdir -p "$folder"
cd "$folder"

if [ ! -x server/feagi/bin/linux-x86_64/feagi ]; then
	python3 -m pip download --quiet --no-deps --dest wheel "feagi-core==$version"
	python3 -m zipfile -e wheel/feagi_core-"$version"-*.whl server.new
	chmod +x server.new/feagi/bin/linux-x86_64/feagi
	rm -rf server && mv server.new server
fi

server=server/feagi/bin/linux-x86_64/feagi
if ! "$server" --version >/dev/null 2>&1 && [ ! -d libc ]; then
	# The package lists lie in a root of their own: nothing of this system changes.
	mkdir -p apt/lists/partial apt/cache/archives/partial
	mirror=$(apt-get indextargets --format '$(SITE)' | grep '/debian$' | head -n 1)
	echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror trixie main" >apt/sources.list
	options=(-qq -o "Dir::Etc::sourcelist=$PWD/apt/sources.list" -o Dir::Etc::sourceparts=- -o "Dir::State::lists=$PWD/apt/lists" -o "Dir::Cache=$PWD/apt/cache" -o APT::Sandbox::User=)
	apt-get "${options[@]}" update
	apt-get "${options[@]}" download libc6
	dpkg-deb -x libc6_*.deb libc.new
	mv libc.new libc
fi
