package generate

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/cli"
	"github.com/anekit/anekit/internal/chat"
	"github.com/anekit/anekit/models/decoder"
)

// chatRoom is the default room of an interactive conversation in tokens.
const chatRoom = 4096

// openChat reads the chat template and the conversation that --messages begins.
func (j *job) openChat() (err error) {
	if j.template, err = chat.Open(j.folder); err != nil {
		return err
	}
	j.conversation = chat.New()
	if j.messages != "" {
		j.conversation, err = chat.Read(j.messages)
	}
	return err
}

// converse answers the lines of standard input, one after another.
func (j *job) converse(ctx context.Context, s *decoder.Session) error {
	lines := make(chan string)
	go func() { // a read of a terminal cannot be interrupted
		defer close(lines)
		in := bufio.NewReader(io.LimitReader(os.Stdin, maxPrompt))
		for {
			line, err := in.ReadString('\n')
			if line = strings.TrimRight(line, "\r\n"); line != "" {
				select {
				case lines <- line:
				case <-ctx.Done():
					return
				}
			}
			if err != nil {
				return
			}
		}
	}()
	for {
		if term.IsTerminal(int(os.Stdin.Fd())) {
			fmt.Fprint(j.app.Err, "> ")
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case line, ok := <-lines:
			if !ok {
				return nil
			}
			if err := j.reply(ctx, s, line); err != nil {
				return err
			}
		}
	}
}

// reply answers a line. The session keeps what the text of the conversation has in common with the one before.
func (j *job) reply(ctx context.Context, s *decoder.Session, line string) error {
	j.conversation.Say("user", line)
	j.conversation.Answer()
	text, err := j.template.Render(ctx, j.conversation, time.Now())
	if err != nil {
		return err
	}
	ids, err := j.words.EncodeBare(text)
	if err != nil {
		return err
	}
	n := 0
	for n < min(len(ids), s.Position()) && ids[n] == s.Tokens()[n] {
		n++
	}
	if err := s.Truncate(n); err != nil {
		return err
	}
	most := j.context - len(ids)
	if most < 1 {
		return cli.Badf("the conversation has %d tokens, the context %d; give --context N, or begin another one", len(ids),
			j.context)
	}
	if j.whole {
		most = min(most, j.max)
	}
	j.talked = decoder.Snapshot{Prompt: ids, Sampler: j.talked.Sampler}
	j.ended = false
	j.start(ids...)
	var first time.Time
	ended, err := s.Answer(ctx, &j.talked, most, func(token int) error {
		if first.IsZero() {
			first = time.Now()
		}
		return j.said(token)
	})
	if n := len(j.talked.Answer) - 1; n > 0 { // the rate of all answers, each without its first token
		j.steps, j.spent = j.steps+n, j.spent+time.Since(first)
		j.details.Rate = float64(j.steps) / max(j.spent, 1).Seconds()
	}
	if j.details.Stopped = "max"; ended {
		j.details.Stopped = "eos"
	}
	if err == nil {
		err = j.endLine()
	}
	j.conversation.Say("assistant", j.words.Decode(j.talked.Answer))
	return err
}
