package cli

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestProgress(t *testing.T) {
	var b bytes.Buffer
	p := &Progress{w: &b, width: 40, steps: 4}
	p.Now("identity")
	p.Done()
	require.Equal(t, eraseLine+"[                    ] 0/4 identity"+eraseLine+"[=====               ] 1/4 identity",
		b.String())
	b.Reset()
	p.Now("a step whose name is longer than the line")
	require.Len(t, b.String(), len(eraseLine)+39)
	b.Reset()
	p.Stop()
	p.Now("after the end")
	require.Equal(t, eraseLine, b.String())
	(&App{Err: &b}).Progress(3).Now("no terminal")
	require.Equal(t, eraseLine, b.String())
}
