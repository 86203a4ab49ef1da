package trial

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/doc"
)

// A model has one plot of its times on all engines; a surface has a bar and a row with its figures.
func TestShow(t *testing.T) {
	const object = `{"details":{"engines":[` +
		`{"engine":"soft","models":[{"name":"add","latency":{"edges_ns":[100,200,400],"counts":[3,1]}}]},` +
		`{"engine":"broker","models":[{"name":"add","latency":{"edges_ns":[100,300],"counts":[2]}},` +
		`{"name":"bad","error":"e"}]}],"models":[{"name":"add","surfaces":[{"tensor":"x","side":"input","dtype":"fp16",` +
		`"shape":[1,4],"rows":1,"row_bytes":8,"row_stride":64,"value_bytes":8,"tensor_bytes":64,` +
		`"surface_bytes":16384}]}]}}`
	var page bytes.Buffer
	require.NoError(t, doc.Write(&page, []byte(object), func(d *doc.Doc, v *doc.Value) {
		ShowLatency(d, v.Items("engines"))
		ShowSurfaces(d, v.Items("models")...)
	}))
	for _, want := range []string{`data-json="/details/engines/1/engine">broker`, "<desc id=\"p1-d\">Histogram", "400 ns",
		"A bar for each of 1 surfaces", ">add x</text>",
		`data-json="/details/models/0/surfaces/0/surface_bytes" data-raw="16384"`} {
		require.Contains(t, page.String(), want)
	}
	require.Equal(t, 2, strings.Count(page.String(), "<svg"), "none of the model that did not run")
}
