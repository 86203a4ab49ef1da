package driverabi

// QoS classes (facts, section 7).
const (
	QoSRealTime        uint32 = 0
	QoSBackground      uint32 = 9
	QoSUtility         uint32 = 17
	QoSDefault         uint32 = 21
	QoSUserInitiated   uint32 = 25
	QoSUserInteractive uint32 = 33
)

// Queues is the number of the engine's queues, .p0 to .p7; the firmware counts those
// below FirstNormalQueue as real time (facts, section 7).
const (
	Queues           = 8
	FirstNormalQueue = 2
)

// QueueDepth is how many asynchronous requests a program may have (facts, sections 2
// and 7).
const QueueDepth = 127

// QoSClass is a row of the QoS table (facts, section 7).
type QoSClass struct {
	QoS      uint32
	Name     string
	Priority uint32
	// Queue is the queue index where Known, and 0 otherwise.
	Queue uint32
	Known bool
	Note  string
}

// classes are the rows of the table but its last. They are never written.
var classes = [...]QoSClass{
	{QoS: QoSRealTime, Name: "real time", Priority: 2, Queue: 2, Known: true},
	{QoS: QoSUserInteractive, Name: "user interactive", Priority: 3},
	{QoS: QoSUserInitiated, Name: "user initiated", Priority: 4},
	{QoS: QoSDefault, Name: "default", Priority: 5},
	{QoS: QoSUtility, Name: "utility", Priority: 5, Note: "queue index differs from that of 21"},
	{QoS: QoSBackground, Name: "background", Priority: 6},
}

// QoSClasses are the classes of the table, most urgent first.
func QoSClasses() []QoSClass { return append([]QoSClass(nil), classes[:]...) }

// other is the last row of the table: all that are no class. It is never written.
var other = QoSClass{Name: "other", Priority: 5, Queue: 5, Known: true, Note: "logged as an invalid qos"}

// Rank is the place of a QoS among the classes, 0 for the most urgent; false for what is
// no class.
func Rank(qos uint32) (rank int, class bool) {
	for i := range classes {
		if classes[i].QoS == qos {
			return i, true
		}
	}
	return 0, false
}

// Lower is the class that comes after that of a QoS; QoSBackground for the last one and
// for what is no class.
func Lower(qos uint32) uint32 {
	rank, class := Rank(qos)
	if !class || rank == len(classes)-1 {
		return QoSBackground
	}
	return classes[rank+1].QoS
}

// row is the row of a QoS in the table.
func row(qos uint32) *QoSClass {
	if rank, class := Rank(qos); class {
		return &classes[rank]
	}
	return &other
}

// Class is the row of a QoS. All that are no class share the table's last row, with
// priority 5 and queue index 5.
func Class(qos uint32) QoSClass {
	c := *row(qos)
	c.QoS = qos
	return c
}

// Priority is the program priority of a QoS; lower is more urgent.
func Priority(qos uint32) uint32 { return row(qos).Priority }

// QueueIndex is the queue index of a QoS, and whether it is documented; it is for real
// time and for what is no class.
func QueueIndex(qos uint32) (index uint32, known bool) {
	c := row(qos)
	return c.Queue, c.Known
}
