package browsertest

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"github.com/anekit/anekit/internal/host"
)

// patience is how long a call of the browser may take on a busy machine.
const patience = 2 * time.Minute

// Find returns the path of a browser; empty if there is none.
func Find() string {
	for _, name := range []string{"chromium-headless-shell", "chromium", "chromium-browser", "google-chrome",
		"/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}

// Browser is a running browser. One goroutine at a time may use it.
type Browser struct {
	in    io.WriteCloser // commands
	calls int

	mu      sync.Mutex // guards the fields below
	waiting map[int]chan message
	pages   map[string]*Page // by session
	ended   error
}

// message is an answer or an event of the protocol.
type message struct {
	ID      int             `json:"id"`
	Method  string          `json:"method"`
	Session string          `json:"sessionId"`
	Params  json.RawMessage `json:"params"`
	Result  json.RawMessage `json:"result"`
	Error   *struct {
		Message string `json:"message"`
	} `json:"error"`
}

// Open starts a browser, which ends with the test. It skips the test where there is none.
func Open(t testing.TB) *Browser {
	t.Helper()
	path := Find()
	if path == "" {
		t.Skip("no browser: install the package chromium-headless-shell, or chromium")
	}
	if host.Windows {
		t.Skip("the protocol needs two pipes that a process inherits")
	}
	args := []string{"--headless", "--remote-debugging-pipe", "--user-data-dir=" + t.TempDir(), "--no-first-run",
		"--disable-gpu", "--disable-dev-shm-usage", "--disable-extensions", "--no-default-browser-check"}
	if os.Geteuid() == 0 {
		args = append(args, "--no-sandbox") // which it needs for root
	}
	commands, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	out, answers, err := os.Pipe()
	if err != nil {
		t.Fatal(errors.Join(err, commands.Close(), in.Close()))
	}
	cmd := exec.Command(path, args...)
	cmd.ExtraFiles = []*os.File{commands, answers}
	err = cmd.Start()
	_ = commands.Close()
	_ = answers.Close()
	if err != nil {
		t.Fatal(errors.Join(err, in.Close(), out.Close()))
	}
	b := &Browser{in: in, waiting: map[int]chan message{}, pages: map[string]*Page{}}
	read := make(chan struct{})
	go func() {
		defer close(read)
		b.read(out)
	}()
	t.Cleanup(func() {
		_ = b.call("", "Browser.close", nil, nil)
		_ = in.Close()
		kill := time.AfterFunc(10*time.Second, func() { _ = cmd.Process.Kill() })
		_ = cmd.Wait()
		kill.Stop()
		_ = out.Close()
		<-read
	})
	return b
}

// read distributes what the browser says until it ends.
func (b *Browser) read(out io.Reader) {
	lines := bufio.NewReader(out)
	for {
		text, err := lines.ReadBytes(0)
		if err != nil {
			b.mu.Lock()
			b.ended = errors.New("the browser has ended")
			for _, c := range b.waiting {
				close(c)
			}
			b.waiting = map[int]chan message{}
			b.mu.Unlock()
			return
		}
		var m message
		if json.Unmarshal(text[:len(text)-1], &m) != nil {
			continue
		}
		b.mu.Lock()
		c, page := b.waiting[m.ID], b.pages[m.Session]
		delete(b.waiting, m.ID)
		b.mu.Unlock()
		switch {
		case m.ID != 0 && c != nil:
			c <- m
		case page != nil:
			page.event(m)
		}
	}
}

// call calls a method of the protocol.
func (b *Browser) call(session, method string, params map[string]any, result any) error {
	b.calls++
	id, c := b.calls, make(chan message, 1)
	b.mu.Lock()
	if b.ended != nil {
		b.mu.Unlock()
		return b.ended
	}
	b.waiting[id] = c
	b.mu.Unlock()
	request := map[string]any{"id": id, "method": method}
	if params != nil {
		request["params"] = params
	}
	if session != "" {
		request["sessionId"] = session
	}
	text, err := json.Marshal(request)
	if err != nil {
		return err
	}
	if _, err := b.in.Write(append(text, 0)); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	select {
	case m, ok := <-c:
		switch {
		case !ok:
			return fmt.Errorf("%s: the browser has ended", method)
		case m.Error != nil:
			return fmt.Errorf("%s: %s", method, m.Error.Message)
		case result != nil:
			return json.Unmarshal(m.Result, result)
		}
		return nil
	case <-ctx.Done():
		return fmt.Errorf("%s: no answer in %v", method, patience)
	}
}
