package main

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestProgress(t *testing.T) {
	var b bytes.Buffer
	p := &progress{w: &b, width: 40, steps: 4}
	p.now("identity")
	p.done()
	require.Equal(t, eraseLine+"[                    ] 0/4 identity"+eraseLine+"[=====               ] 1/4 identity",
		b.String())
	b.Reset()
	p.now("a step whose name is longer than the line")
	require.Len(t, b.String(), len(eraseLine)+39)
	b.Reset()
	p.stop()
	p.now("after the end")
	require.Equal(t, eraseLine, b.String())
	(&app{err: &b}).progress(3).now("no terminal")
	require.Equal(t, eraseLine, b.String())
}
