package bench

import (
	"bytes"
	"encoding/xml"
	"io"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPlotIsXML(t *testing.T) {
	for _, logarithmic := range []bool{false, true} {
		var out bytes.Buffer
		p := plot{Title: "t", X: "x", Y: "y", Logarithmic: logarithmic, Lines: []line{{"a", []point{{1, 2}, {10, 3}}},
			{"b", []point{{10, 4}}}}}
		require.NoError(t, p.write(&out))
		require.Contains(t, out.String(), `<polyline points="80.0,`)
		for d := xml.NewDecoder(&out); ; {
			_, err := d.Token()
			if err == io.EOF {
				break
			}
			require.NoError(t, err)
		}
	}
}

func TestFiguresHaveNoExponents(t *testing.T) {
	for v, want := range map[float64]string{0: "0", 0.0931: "0.0931", 0.00001234: "0.0000123", 4.056: "4.06",
		999.4: "999", 999.7: "1000", 1990.2: "1990", 54400: "54400", -1234.5: "-1234"} {
		require.Equal(t, want, figure(v))
	}
}
