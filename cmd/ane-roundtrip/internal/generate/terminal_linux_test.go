//go:build !macrules

package generate

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/cli"
)

// pseudoTerminal returns a terminal and its other end.
func pseudoTerminal(t *testing.T) (terminal, reader *os.File) {
	reader, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no pseudo-terminal: %v", err)
	}
	t.Cleanup(func() { reader.Close() })
	require.NoError(t, unix.IoctlSetPointerInt(int(reader.Fd()), unix.TIOCSPTLCK, 0))
	n, err := unix.IoctlGetInt(int(reader.Fd()), unix.TIOCGPTN)
	require.NoError(t, err)
	terminal, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no pseudo-terminal: %v", err)
	}
	t.Cleanup(func() { terminal.Close() })
	return terminal, reader
}

// What a model or a guest says cannot control a terminal; a file gets it as it is. What a guest prints is escaped in
// both.
func TestTextIsInertOnATerminal(t *testing.T) {
	const text, shown = "\x1b[2Jone\ttwo é\r\u009b1m\n", `\x1b[2Jone` + "\t" + `two é\r\u009b1m`
	terminal, reader := pseudoTerminal(t)
	lines := bufio.NewReader(reader)
	for _, write := range []func() error{
		func() error { return cli.WriteText(terminal, text) },
		func() error { _, err := guestOutput{terminal}.Write([]byte(text)); return err },
	} {
		require.NoError(t, write())
		line, err := lines.ReadString('\n')
		require.NoError(t, err)
		require.Equal(t, shown+"\r\n", line) // the terminal adds the carriage return
	}
	file, err := os.Create(filepath.Join(t.TempDir(), "file"))
	require.NoError(t, err)
	defer file.Close()
	require.NoError(t, cli.WriteText(file, text))
	n, err := guestOutput{file}.Write([]byte(text))
	require.NoError(t, err)
	require.Len(t, text, n)
	got, err := os.ReadFile(file.Name())
	require.NoError(t, err)
	require.Equal(t, text+shown+"\n", string(got))
}
