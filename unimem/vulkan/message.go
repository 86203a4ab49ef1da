package vulkan

import (
	"fmt"
	"sync"
)

// process holds the process-wide facts. C code holds numbers instead of Go pointers to receivers of messages. All
// receivers share one callback, since a process can have few.
var process struct {
	sync.Mutex
	last      uintptr
	receivers map[uintptr]func(message string)
	callback  uintptr // 0 until the first Validate
}

// register returns the number of a receiver.
func register(report func(message string)) (number uintptr) {
	process.Lock()
	defer process.Unlock()
	if process.receivers == nil {
		process.receivers = map[uintptr]func(message string){}
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
	kind := "warning"
	if severity&severityError != 0 {
		kind = "error"
	}
	report(fmt.Sprintf("%s %s: %s", kind, textAt(d.id), textAt(d.text)))
}
