package timeline

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/doc"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A record has a plot of its spans and one of its memory, each with its figures.
func TestShow(t *testing.T) {
	const object = `{"details":{"spans":[{"row":"submissions","name":"alloca 1","start_ns":5,"duration_ns":10},` +
		`{"row":"engine","name":"dispatch","program":"add","start_ns":20,"duration_ns":30}],` +
		`"memory":[{"at_ns":5,"bytes":4096},{"at_ns":60,"bytes":0}]}}`
	var page, none bytes.Buffer
	require.NoError(t, doc.Write(&page, []byte(object), Show))
	for _, want := range []string{">submissions</text>", ">engine</text>", `data-json="/details/spans/1/duration_ns"`,
		`data-json="/details/memory/0/bytes" data-raw="4096"`, "4 KiB</text>"} {
		require.Contains(t, page.String(), want)
	}
	require.NotContains(t, page.String(), ">copies</text>")
	require.NoError(t, doc.Write(&none, []byte(`{}`), Show))
	require.NotContains(t, none.String(), "<section")
}
