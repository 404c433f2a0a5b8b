// Messages of the fabric's API, and the values that they carry.
#pragma once

#include "lib/fabricapi/binding_messages.h"
#include "lib/fabricapi/diagnosis_messages.h"
#include "lib/fabricapi/node_messages.h"
#include "lib/fabricapi/partition_messages.h"
