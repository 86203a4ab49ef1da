package check

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/cli"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/doc"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/trial"
)

// shown is what a terminal shows of a report.
func shown(t *testing.T, r cli.Report, quiet bool) string {
	t.Helper()
	t.Setenv("COLUMNS", "")
	object, err := json.Marshal(r)
	require.NoError(t, err)
	var out bytes.Buffer
	require.NoError(t, doc.Terminal(&out, object, View(quiet)))
	return out.String()
}

// Where the system does not tell the growth of memory, as macOS does not, the verdict says that it was not measured.
func TestVerdictSaysWhatWasNotMeasured(t *testing.T) {
	for _, c := range []struct {
		checks []trial.Check
		want   string
	}{
		{[]trial.Check{trial.Skipped("gpu/growth", "no"), trial.Skipped("gpu/growth-copy", "no")},
			"0 of 2 checks passed, others cannot run here\n" +
				"verdict: pass, gpu/growth and gpu/growth-copy not measured on this system\n"},
		{[]trial.Check{trial.Skipped("replay/run", "no")},
			"0 of 1 checks passed, others cannot run here\nverdict: pass\n"},
	} {
		r := cli.Report{Checks: c.checks, Verdict: cli.VerdictPass, Details: details{}}
		require.Equal(t, c.want, shown(t, r, true))
	}
}

// page is the body of the page of an object.
func page(t *testing.T, object string) string {
	t.Helper()
	var out bytes.Buffer
	require.NoError(t, doc.Write(&out, []byte(object), View(true)))
	_, body, ok := strings.Cut(out.String(), "</style>")
	require.True(t, ok)
	return body
}

// The page has the most important figures at its head, and models, memory, guests and the GPU, also where the terminal is
// quiet.
func TestPage(t *testing.T) {
	const model = `{"name":"add","compile_ns":1500,"load_ns":20,"evaluate_p50_ns":1162,"evaluate_p99_ns":99999,` +
		`"max_error":null,"bytes_copied":null,"latency":{"edges_ns":[100,200,400],"counts":[3,1]},"surfaces":[` +
		`{"tensor":"x","side":"input","dtype":"fp16","shape":[1,4],"rows":1,"row_bytes":8,"row_stride":64,` +
		`"value_bytes":8,"tensor_bytes":64,"surface_bytes":16384}]}`
	const object = `{"command":"check","verdict":"pass","checks":[{"name":"memory/copies","status":"pass","value":4096}],` +
		`"details":{"models":[` + model + `],"engines":[{"engine":"soft","models":[` + model + `,{"name":"bad","error":"e"}],` +
		`"memory":[{"step":"open","at_ns":0,"process_bytes":8000000,"block_bytes":0},{"step":"add","at_ns":900,` +
		`"process_bytes":null,"block_bytes":16384}]}],"guests":[{"path":"offset","errors":3,"copying":{"errors":5}}],` +
		`"gpu":{"name":"g","alignment_bytes":4096},"timeline":{"spans":[{"row":"engine","name":"dispatch","program":"add",` +
		`"start_ns":20,"duration_ns":30}],"memory":[]}}}`
	body := page(t, object)
	for _, want := range []string{`tensors reached through a copy</dt>`, `Checks on soft`, `open Blocks`,
		`data-json="/details/engines/0/memory/1/block_bytes" data-raw="16384"`,
		`data-json="/details/engines/0/models/0/evaluate_p50_ns" data-raw="1162"`,
		`data-json="/details/engines/0/models/1/error">e`, `tensors at an offset`,
		`data-json="/details/guests/0/copying/errors" data-raw="5"`, `data-json="/details/gpu/alignment_bytes"`, `Memory map`,
		`Engine spans`} {
		require.Contains(t, body, want)
	}
	require.Equal(t, 4, strings.Count(body, "<svg"))
	require.NotRegexp(t, `>copied</(dt|th)>`, body, "the column says what copied means")
	require.NotContains(t, page(t, `{"command":"check","verdict":"unavailable"}`), "<svg")
}
