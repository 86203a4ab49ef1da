package report

import (
	"bytes"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

// pageOf is the page of an object.
func pageOf(t *testing.T, object string) string {
	var out bytes.Buffer
	require.NoError(t, Write(&out, []byte(object)))
	_, body, ok := bytes.Cut(out.Bytes(), []byte("</style>"))
	require.True(t, ok)
	return string(body)
}

// A page is headed Pass, in green, only where checks have passed: no estimate.
func TestEstimatesAreNoPass(t *testing.T) {
	for _, c := range []struct{ command, verdict, details, heading string }{
		{"check", "pass", `{}`, `<h1 class="pass"><span data-json="/verdict">pass</span></h1>`},
		{"cost", "pass", `{}`, `<h1><span class="word">Estimate</span></h1>`},
		{"cost", "fail", `{}`, `<h1 class="fail">`},
	} {
		body := pageOf(t, `{"command":"`+c.command+`","verdict":"`+c.verdict+`","details":`+c.details+`}`)
		require.Contains(t, body, c.heading, "%s %s", c.command, c.details)
	}
}

// A limit that is not known is no 0.
func TestUnknownLimitsAreNoZero(t *testing.T) {
	body := pageOf(t, `{"command":"cost","verdict":"pass","details":{"budgets":[{"name":"b","used":2,"limit":null,`+
		`"over":false,"evidence":"unknown","source":""}]}}`)
	require.Regexp(t, `data-json="/details/budgets/0/limit"[^>]*>–<`, body)
}

// What the engine reaches through a copy, and what run moves between a file and a tensor, have names of their
// own: no figure and no column is called copied alone.
func TestCopiesHaveTheirNames(t *testing.T) {
	alone := regexp.MustCompile(`>copied</(dt|th)>`)
	for command, object := range objects(t, "") {
		require.NotRegexp(t, alone, pageOf(t, string(object)), command)
	}
}

// A linear axis begins at 0, or ends there.
func TestLinearAxesHaveZero(t *testing.T) {
	for _, c := range [][4]float64{{40, 50, 0, 50}, {-50, -40, -50, 0}, {-1, 2, -1, 2}, {0, 0, 0, 1}, {3, 3, 0, 3}} {
		low, high := axis{}.span(c[0], c[1])
		require.Equal(t, c[2:], []float64{low, high}, "%v", c)
	}
	low, high := axis{log: true}.span(40, 50)
	require.Equal(t, []float64{40, 50}, []float64{low, high})
}
