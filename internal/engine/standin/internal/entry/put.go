package entry

import "unicode/utf8"

// put writes text and a zero byte into room. It cuts text at a whole character.
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
