package driverabi

// QoS classes (docs/FACTS.md, Quality of service).
const (
	QoSRealTime        uint32 = 0
	QoSBackground      uint32 = 9
	QoSUtility         uint32 = 17
	QoSDefault         uint32 = 21
	QoSUserInitiated   uint32 = 25
	QoSUserInteractive uint32 = 33
)

// Queues is the number of the engine's queues, .p0 to .p7; the firmware counts those
// below FirstNormalQueue as real time (docs/FACTS.md, Quality of service).
const (
	Queues           = 8
	FirstNormalQueue = 2
)

// QueueDepth is how many asynchronous requests a program may have (docs/FACTS.md, Requests).
const QueueDepth = 127

// QoSClass is a row of the table of docs/FACTS.md, Quality of service.
type QoSClass struct {
	QoS      uint32
	Name     string
	Priority uint32 // of a program; lower is more urgent
	// Queue is the queue of the broker's simulated driver. An M3 Pro has 17 and 21 in one queue, 5, and 9 in queue 6;
	// here each class has a queue of its own, so that the broker counts each class.
	Queue int
}

// classes are the rows of the table but its last. They are never written.
var classes = [...]QoSClass{
	{QoSRealTime, "real time", 2, FirstNormalQueue},
	{QoSUserInteractive, "user interactive", 3, 3},
	{QoSUserInitiated, "user initiated", 4, 4},
	{QoSDefault, "default", 5, 5},
	{QoSUtility, "utility", 5, 6},
	{QoSBackground, "background", 6, 7},
}

// QoSClasses are the classes of the table, most urgent first.
func QoSClasses() []QoSClass { return append([]QoSClass(nil), classes[:]...) }

// Class is the row of a QoS. All that are no class share the table's last row, with
// priority 5 and queue index 5; they are logged as an invalid qos.
func Class(qos uint32) QoSClass {
	for i := range classes {
		if classes[i].QoS == qos {
			return classes[i]
		}
	}
	return QoSClass{qos, "other", 5, 5}
}

// Priority is the program priority of a QoS.
func Priority(qos uint32) uint32 { return Class(qos).Priority }

// Lower is the class that comes after that of a QoS; QoSBackground for the last one and
// for what is no class.
func Lower(qos uint32) uint32 {
	for i := range classes[:len(classes)-1] {
		if classes[i].QoS == qos {
			return classes[i+1].QoS
		}
	}
	return QoSBackground
}
