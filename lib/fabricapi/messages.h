// Messages of the fabric's API, and their values.
#pragma once

#include "lib/fabricapi/binding_messages.h"
#include "lib/fabricapi/diagnosis_messages.h"
#include "lib/fabricapi/node_messages.h"
#include "lib/fabricapi/partition_messages.h"
