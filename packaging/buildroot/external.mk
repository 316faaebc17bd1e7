include $(sort $(wildcard $(BR2_EXTERNAL_TEEMARK_PATH)/package/*/*.mk))
