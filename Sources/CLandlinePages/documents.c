#include "landline_pages.h"

#include <string.h>

// The documentation is part of the executable: what it says is true of this version.
#pragma clang diagnostic ignored "-Wc23-extensions"

// One line for each document, by its path in the repository.
#define DOCUMENTS(DOCUMENT) \
  DOCUMENT(readme, "README.md") \
  DOCUMENT(example_configuration, "Config/landline.yaml") \
  DOCUMENT(landline_js_guide, "Sources/CLandlinePages/Documentation/LandlineJS.md") \
  DOCUMENT(landline_v1_asyncapi, "Sources/AppProtocol/API/landline.v1.asyncapi.json") \
  DOCUMENT(app_protocol, "Sources/AppProtocol/AppProtocol.docc/AppProtocol.md") \
  DOCUMENT(call_engine, "Sources/CallEngine/CallEngine.docc/CallEngine.md") \
  DOCUMENT(call_failures, "Sources/CallModel/CallModel.docc/CallFailures.md") \
  DOCUMENT(call_model, "Sources/CallModel/CallModel.docc/CallModel.md") \
  DOCUMENT(call_story, "Sources/CallStory/CallStory.docc/CallStory.md") \
  DOCUMENT(landline_bench, "Sources/LandlineBench/LandlineBench.docc/LandlineBench.md") \
  DOCUMENT(landline_client, "Sources/LandlineClient/LandlineClient.docc/LandlineClient.md") \
  DOCUMENT(porting, "Sources/LandlineClient/LandlineClient.docc/Porting.md") \
  DOCUMENT(landline_configuration, "Sources/LandlineConfiguration/LandlineConfiguration.docc/LandlineConfiguration.md") \
  DOCUMENT(landline_console, "Sources/LandlineConsole/LandlineConsole.docc/LandlineConsole.md") \
  DOCUMENT(landline_wire, "Sources/LandlineWire/LandlineWire.docc/LandlineWire.md") \
  DOCUMENT(landline_node, "Sources/LandlineNode/LandlineNode.docc/LandlineNode.md") \
  DOCUMENT(landline_http, "Sources/LandlineHTTP/LandlineHTTP.docc/LandlineHTTP.md") \
  DOCUMENT(landline_outbound, "Sources/LandlineOutbound/LandlineOutbound.docc/LandlineOutbound.md") \
  DOCUMENT(landline_resolver, "Sources/LandlineResolver/LandlineResolver.docc/LandlineResolver.md") \
  DOCUMENT(landline_server, "Sources/LandlineServer/LandlineServer.docc/LandlineServer.md") \
  DOCUMENT(promises, "Sources/LandlineServer/LandlineServer.docc/Promises.md") \
  DOCUMENT(node_core, "Sources/NodeCore/NodeCore.docc/NodeCore.md") \
  DOCUMENT(ledger_core, "Sources/LedgerCore/LedgerCore.docc/LedgerCore.md") \
  DOCUMENT(ledger_sqlite, "Sources/LedgerSQLite/LedgerSQLite.docc/LedgerSQLite.md") \
  DOCUMENT(records_sqlite, "Sources/RecordsSQLite/RecordsSQLite.docc/RecordsSQLite.md") \
  DOCUMENT(landline_sqlite, "Sources/LandlineSQLite/LandlineSQLite.docc/LandlineSQLite.md") \
  DOCUMENT(ledger_spool, "Sources/LedgerSpool/LedgerSpool.docc/LedgerSpool.md") \
  DOCUMENT(landline_recording, "Sources/LandlineRecording/LandlineRecording.docc/LandlineRecording.md") \
  DOCUMENT(media_core, "Sources/MediaCore/MediaCore.docc/MediaCore.md") \
  DOCUMENT(number_plan, "Sources/NumberPlan/NumberPlan.docc/NumberPlan.md") \
  DOCUMENT(routing_core, "Sources/RoutingCore/RoutingCore.docc/RoutingCore.md") \
  DOCUMENT(sdpcore, "Sources/SDPCore/SDPCore.docc/SDPCore.md") \
  DOCUMENT(cause_mapping, "Sources/SIPCore/SIPCore.docc/CauseMapping.md") \
  DOCUMENT(sipcore, "Sources/SIPCore/SIPCore.docc/SIPCore.md") \
  DOCUMENT(secure_transport, "Sources/SecureTransport/SecureTransport.docc/SecureTransport.md") \
  DOCUMENT(simulation_kit, "Sources/SimulationKit/SimulationKit.docc/SimulationKit.md")

static const unsigned char readme[] = {
#embed "../../README.md"
};
static const unsigned char example_configuration[] = {
#embed "../../Config/landline.yaml"
};
static const unsigned char landline_js_guide[] = {
#embed "Documentation/LandlineJS.md"
};
static const unsigned char landline_v1_asyncapi[] = {
#embed "../AppProtocol/API/landline.v1.asyncapi.json"
};
static const unsigned char app_protocol[] = {
#embed "../AppProtocol/AppProtocol.docc/AppProtocol.md"
};
static const unsigned char call_engine[] = {
#embed "../CallEngine/CallEngine.docc/CallEngine.md"
};
static const unsigned char call_failures[] = {
#embed "../CallModel/CallModel.docc/CallFailures.md"
};
static const unsigned char call_model[] = {
#embed "../CallModel/CallModel.docc/CallModel.md"
};
static const unsigned char call_story[] = {
#embed "../CallStory/CallStory.docc/CallStory.md"
};
static const unsigned char landline_bench[] = {
#embed "../LandlineBench/LandlineBench.docc/LandlineBench.md"
};
static const unsigned char landline_client[] = {
#embed "../LandlineClient/LandlineClient.docc/LandlineClient.md"
};
static const unsigned char porting[] = {
#embed "../LandlineClient/LandlineClient.docc/Porting.md"
};
static const unsigned char landline_configuration[] = {
#embed "../LandlineConfiguration/LandlineConfiguration.docc/LandlineConfiguration.md"
};
static const unsigned char landline_console[] = {
#embed "../LandlineConsole/LandlineConsole.docc/LandlineConsole.md"
};
static const unsigned char landline_wire[] = {
#embed "../LandlineWire/LandlineWire.docc/LandlineWire.md"
};
static const unsigned char landline_node[] = {
#embed "../LandlineNode/LandlineNode.docc/LandlineNode.md"
};
static const unsigned char landline_http[] = {
#embed "../LandlineHTTP/LandlineHTTP.docc/LandlineHTTP.md"
};
static const unsigned char landline_outbound[] = {
#embed "../LandlineOutbound/LandlineOutbound.docc/LandlineOutbound.md"
};
static const unsigned char landline_resolver[] = {
#embed "../LandlineResolver/LandlineResolver.docc/LandlineResolver.md"
};
static const unsigned char promises[] = {
#embed "../LandlineServer/LandlineServer.docc/Promises.md"
};
static const unsigned char landline_server[] = {
#embed "../LandlineServer/LandlineServer.docc/LandlineServer.md"
};
static const unsigned char node_core[] = {
#embed "../NodeCore/NodeCore.docc/NodeCore.md"
};
static const unsigned char ledger_core[] = {
#embed "../LedgerCore/LedgerCore.docc/LedgerCore.md"
};
static const unsigned char ledger_sqlite[] = {
#embed "../LedgerSQLite/LedgerSQLite.docc/LedgerSQLite.md"
};
static const unsigned char records_sqlite[] = {
#embed "../RecordsSQLite/RecordsSQLite.docc/RecordsSQLite.md"
};
static const unsigned char landline_sqlite[] = {
#embed "../LandlineSQLite/LandlineSQLite.docc/LandlineSQLite.md"
};
static const unsigned char ledger_spool[] = {
#embed "../LedgerSpool/LedgerSpool.docc/LedgerSpool.md"
};
static const unsigned char landline_recording[] = {
#embed "../LandlineRecording/LandlineRecording.docc/LandlineRecording.md"
};
static const unsigned char media_core[] = {
#embed "../MediaCore/MediaCore.docc/MediaCore.md"
};
static const unsigned char number_plan[] = {
#embed "../NumberPlan/NumberPlan.docc/NumberPlan.md"
};
static const unsigned char routing_core[] = {
#embed "../RoutingCore/RoutingCore.docc/RoutingCore.md"
};
static const unsigned char sdpcore[] = {
#embed "../SDPCore/SDPCore.docc/SDPCore.md"
};
static const unsigned char cause_mapping[] = {
#embed "../SIPCore/SIPCore.docc/CauseMapping.md"
};
static const unsigned char sipcore[] = {
#embed "../SIPCore/SIPCore.docc/SIPCore.md"
};
static const unsigned char secure_transport[] = {
#embed "../SecureTransport/SecureTransport.docc/SecureTransport.md"
};
static const unsigned char simulation_kit[] = {
#embed "../SimulationKit/SimulationKit.docc/SimulationKit.md"
};

#define ROW(variable, name) {name, variable, sizeof variable},
static const struct {
  const char *name;
  const unsigned char *bytes;
  size_t count;
} documents[] = {DOCUMENTS(ROW)};

const unsigned char *landline_document(const char *name, size_t *count) {
  for (size_t index = 0; index < sizeof documents / sizeof documents[0]; index++) {
    if (strcmp(documents[index].name, name) == 0) {
      *count = documents[index].count;
      return documents[index].bytes;
    }
  }
  *count = 0;
  return NULL;
}
