package schedule_test

import (
	"fmt"
	"time"

	"redoubt/ammo/schedule"
)

// A warm-up, a while at full rate, and a last calm minute.
func Example() {
	plan, err := schedule.Parse("line(1,600,20s) const(600,2m) pause(1m)")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(plan.Shots(), "shots in", plan.Duration())
	fmt.Println("shot 1000 at", plan.At(1000))
	fmt.Println("after 10 s", plan.Due(10*time.Second), "shots were due, at a rate of", plan.Rate(10*time.Second))
	// Output:
	// 78010 shots in 3m20s
	// shot 1000 at 8.138457694s
	// after 10 s 1508 shots were due, at a rate of 300.5
}

// A gun that knows how many shots it has fired learns from At when the next
// one is due, and from Due how far it lags behind.
func ExamplePlan_Due() {
	plan, _ := schedule.Parse("const(10,1s)")
	fired := int64(3)
	fmt.Println("shot", fired, "at", plan.At(fired))
	for _, now := range []time.Duration{299_999_999, 300 * time.Millisecond, 620 * time.Millisecond} {
		fmt.Println(now, plan.Due(now)-fired)
	}
	// Output:
	// shot 3 at 300ms
	// 299.999999ms 0
	// 300ms 1
	// 620ms 4
}

// Each step is a const; the last is at TO, also when the increments miss it.
func ExamplePlan_Rate() {
	plan, _ := schedule.Parse("step(10,45,10,5s)")
	for t := time.Duration(0); t <= plan.Duration(); t += 5 * time.Second {
		fmt.Println(t, plan.Rate(t))
	}
	// Output:
	// 0s 10
	// 5s 20
	// 10s 30
	// 15s 40
	// 20s 45
	// 25s 0
}

// A flood has no instants: its connections fire as fast as they are answered.
func ExamplePlan_Flood() {
	plan, _ := schedule.Parse("flood(64, 30s)")
	conns, ok := plan.Flood()
	fmt.Println(conns, ok, plan.Duration(), plan.Shots())
	// Output: 64 true 30s 0
}

func ExamplePlan_String() {
	plan, _ := schedule.Parse("CONST( .5, 90 )const(0,1500ms)")
	fmt.Println(plan)
	// Output: const(0.5,1m30s) pause(1.5s)
}

func ExampleSyntaxError() {
	_, err := schedule.Parse("line(1,600,20s) const(600)")
	fmt.Println(err)
	// Output: column 26: want ',' before DURATION, got ')': const takes RATE, DURATION, such as const(100,30s)
}
