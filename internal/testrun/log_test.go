package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const events = `{"Action":"start","Package":"m/a"}
{"Action":"run","Package":"m/a","Test":"TestGood"}
{"Action":"output","Package":"m/a","Test":"TestGood","Output":"=== RUN   TestGood\n"}
{"Action":"output","Package":"m/a","Test":"TestGood","Output":"    a_test.go:3: a word\n"}
{"Action":"pass","Package":"m/a","Test":"TestGood"}
{"Action":"output","Package":"m/a","Test":"TestAway","Output":"    a_test.go:9: a first word\n"}
{"Action":"output","Package":"m/a","Test":"TestAway","Output":"    a_test.go:9: needs a tab\n"}
{"Action":"output","Package":"m/a","Test":"TestAway","Output":"--- SKIP: TestAway (0.00s)\n"}
{"Action":"skip","Package":"m/a","Test":"TestAway"}
{"Action":"output","Package":"m/a","Output":"PASS\n"}
{"Action":"output","Package":"m/a","Output":"ok  \tm/a\t0.1s\n"}
{"Action":"pass","Package":"m/a"}
{"Action":"output","Package":"m/b","Test":"TestBad","Output":"    b_test.go:3: wrong\n"}
{"Action":"fail","Package":"m/b","Test":"TestBad"}
{"Action":"output","Package":"m/b","Test":"TestCut","Output":"panic: off\n"}
{"Action":"output","Package":"m/b","Output":"FAIL\tm/b\t0.2s\n"}
{"Action":"fail","Package":"m/b"}
{"Action":"output","Package":"m/c","Output":"skipped: not here\n"}
{"Action":"output","Package":"m/c","Output":"ok  \tm/c\t0.0s\n"}
{"Action":"pass","Package":"m/c"}
{"Action":"output","Package":"m/d","Output":"?   \tm/d\t[no test files]\n"}
{"Action":"skip","Package":"m/d"}
{"ImportPath":"m/e","Action":"build-output","Output":"e.go:1: no\n"}
not an event
`

func TestLog(t *testing.T) {
	var out bytes.Buffer
	l := newLog(&out)
	require.NoError(t, l.read(strings.NewReader(events)))
	require.Equal(t, "ok  \tm/a\t0.1s\n    b_test.go:3: wrong\npanic: off\nFAIL\tm/b\t0.2s\nok  \tm/c\t0.0s\n?   "+
		"\tm/d\t[no test files]\ne.go:1: no\nnot an event\n", out.String())
	require.Equal(t, []id{{"m/a", "TestGood"}, {"m/b", "TestBad"}}, l.ran)
	require.Equal(t, []skip{{id{"m/a", "TestAway"}, "needs a tab"}, {id{"m/c", ""}, "not here"}}, l.skips)

	notes := filepath.Join(t.TempDir(), "new", "notes")
	require.NoError(t, l.note(notes))
	out.Reset()
	require.NoError(t, printReport(&out, notes))
	require.Equal(t, "skipped 2: a TestAway: needs a tab | c: not here\n", out.String())

	// A test that another run has run does not count as skipped.
	other := &log{ran: []id{{"m/a", "TestAway"}, {"m/c", "TestSome"}}}
	require.NoError(t, other.note(notes))
	out.Reset()
	require.NoError(t, printReport(&out, notes))
	require.Equal(t, "no test was skipped\n", out.String())
	require.Error(t, printReport(&out, notes+".not"))
}

func TestReason(t *testing.T) {
	require.Equal(t, "no reason given", reason("--- SKIP: TestX\n"))
	require.Equal(t, "why: so", reason("=== RUN TestX\n    x_test.go:12: why: so\n--- SKIP: TestX\n"))
}
