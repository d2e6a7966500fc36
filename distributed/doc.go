// Package distributed solves the inner problems of a selection in worker processes, on one
// machine or many, over NATS JetStream.
//
// A fold, or a block of classes in a fold, is a group of lanes (package bilevel). A group
// answers requests, both in plain data, and its answers depend only on the earlier requests to
// the group. Its state is therefore the log of its requests. The coordinator, which searches and
// refits, appends requests to the logs. The worker that owns a group reads its log from the
// beginning and publishes an answer to each request. A worker that takes over a group, because
// its owner has died, replays the answered requests and continues with the same bits.
//
//	stream PARE_TASKS      pare.task.JOB.RECORD.GROUP.N     the N-th request of a group
//	stream PARE_RESULTS    pare.result.JOB.RECORD.GROUP.N   its answer, which acknowledges it
//	bucket PARE_JOBS       JOB                       the record from which lanes are made
//	objects PARE_DATA      SHA-256                   matrix and target, once for all jobs
//	subjects pare.stored.>                           servers republish messages that they have stored
//	subject pare.presence                            workers announce that they are alive
//
// RECORD is a hash of the record, so that late answers to an earlier job with the same id have
// other subjects. A subject of the streams takes one message, for ever, so that publishing is
// idempotent: the server refuses a second request or answer, and the first one stands. Every
// worker computes the assignment of groups to workers by itself, from the set of workers that are
// alive (assign.go). If two workers disagree for a moment, both do the work, to the same bits.
// Clocks affect only how soon a dead worker is replaced and lost messages are asked for again.
//
// A failing server can lose anything: the notification of a message, and even a message that it
// has acknowledged (with three servers and three copies, some runs in ten lost an answer when the
// leader was killed). So no process waits for a message without asking again. A coordinator without
// an answer publishes its request again, and looks for the answer in the stream. A worker without a
// request looks for it in the stream, and checks that all of its answers are there; if an answer is
// missing, it replays the log from the beginning.
//
// A worker with a fault of its own, such as a full disk, reports it to the coordinator, and lists in
// its presence messages the jobs that it leaves to other workers. The coordinator gives up when every
// worker has reported a fault.
//
// A coordinator may also die and leave its job behind. So a worker replays a log only if a request in
// it has no answer, and frees lanes that have had no request for a long time.
//
// A coordinator that is started again with the id of its job publishes the same requests, which are
// already answered, and so continues where it stopped.
package distributed
