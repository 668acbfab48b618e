#!/usr/bin/env bash
# Makes gstreamer.mkv: two seconds of two tracks, a tone of 440 Hz as PCM and one of 600 Hz as mu-law, as GStreamer's
# matroskamux writes them with the settings of the producer SDK's samples.
# On Debian 12: apt-get install --no-install-recommends gstreamer1.0-tools gstreamer1.0-plugins-base gstreamer1.0-plugins-good
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
tone() { echo "audiotestsrc num-buffers=100 samplesperbuffer=160 freq=$1 ! audio/x-raw,rate=8000,channels=1,format=S16LE"; }
# shellcheck disable=SC2046
gst-launch-1.0 -q \
    matroskamux name=m streamable=true min-cluster-duration=1000000000 max-cluster-duration=1000000000 \
    ! filesink location=gstreamer.mkv \
    $(tone 440) ! m. \
    $(tone 600) ! mulawenc ! m.
