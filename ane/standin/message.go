package standin

import (
	"errors"
	"unicode/utf8"

	"github.com/anekit/anekit/ane/mil"
)

// faults is what a compiler says: the faults of the program, one a line.
func faults(err error) string {
	var list mil.ErrorList
	if errors.As(err, &list) {
		return list.Error()
	}
	return err.Error()
}

// put writes text and a final zero byte into room, cut at a whole character.
func put(room []byte, text string) {
	if len(room) == 0 {
		return
	}
	n := min(len(text), len(room)-1)
	for n < len(text) && n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	room[copy(room, text[:n])] = 0
}
