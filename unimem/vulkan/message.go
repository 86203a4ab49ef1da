package vulkan

import (
	"fmt"
	"sync"
)

// Message is a warning or an error of the validation layer.
type Message struct {
	Error bool   // false for a warning
	ID    string // the rule of the specification, such as VUID-vkMapMemory-memory-00678
	Text  string
}

// String returns the Message on one line.
func (m Message) String() string {
	kind := "warning"
	if m.Error {
		kind = "error"
	}
	return fmt.Sprintf("%s %s: %s", kind, m.ID, m.Text)
}

// process holds the process-wide facts: C code holds numbers instead of Go pointers to receivers of messages, and one
// callback, since a process can have few of them.
var process struct {
	sync.Mutex
	last      uintptr
	receivers map[uintptr]func(Message)
	callback  uintptr // 0 until the first Validate
}

// register returns the number of a receiver.
func register(report func(Message)) (number uintptr) {
	process.Lock()
	defer process.Unlock()
	if process.receivers == nil {
		process.receivers = map[uintptr]func(Message){}
	}
	process.last++
	process.receivers[process.last] = report
	return process.last
}

func unregister(number uintptr) {
	process.Lock()
	defer process.Unlock()
	delete(process.receivers, number)
}

const (
	severityWarning = 0x100
	severityError   = 0x1000
	messageTypes    = 2 // validation: general ones are the loader's, about other drivers too
)

// receive is called by the validation layer.
func receive(severity uint32, data, user uintptr) {
	process.Lock()
	report := process.receivers[user]
	process.Unlock()
	if report == nil || data == 0 {
		return
	}
	d := messageAt(data)
	report(Message{Error: severity&severityError != 0, ID: textAt(d.id), Text: textAt(d.text)})
}
