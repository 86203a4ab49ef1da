package browsertest

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/anekit/anekit/internal/leaktest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// What the tests of pages rely on: the screen is the asked one, and faults are seen.
func TestPage(t *testing.T) {
	leaktest.SkipEmulated(t)
	b := Open(t)
	file := filepath.Join(t.TempDir(), "page.html")
	require.NoError(t, os.WriteFile(file, []byte(`<!doctype html><meta name="viewport" content="width=device-width">
<title>page</title><p>text<script>console.error("seen")</script><img src="none.png" alt="none">`), 0o600))
	p := b.Page(t, "file://"+file, Screen{Width: 360, Height: 700, Dark: true})
	var got struct {
		Width int
		Dark  bool
	}
	p.Eval(`({width: innerWidth, dark: matchMedia("(prefers-color-scheme: dark)").matches})`, &got)
	require.Equal(t, 360, got.Width)
	require.True(t, got.Dark)
	require.GreaterOrEqual(t, len(p.Faults()), 2, "the error and the picture")
	p.Show(Screen{Width: 1280, Height: 700})
	p.Eval(`({width: innerWidth, dark: matchMedia("(prefers-color-scheme: dark)").matches})`, &got)
	require.Equal(t, 1280, got.Width)
	require.False(t, got.Dark)
	require.NotEmpty(t, p.Picture(0, 100))
	require.NotEmpty(t, p.PDF())
}
